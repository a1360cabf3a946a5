"""Fitting one network: epochs, objective, averaging, checkpoints."""
