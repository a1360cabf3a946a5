"""Training one network: epochs, objective, weight averaging, checkpoints."""
