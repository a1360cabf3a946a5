"""Engines that run the folds of a comparison: this process, several processes, a Ray cluster."""
