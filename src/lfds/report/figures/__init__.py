"""Figures of a run, drawn by one rule: folds, learning curves, pairs, ranks and costs."""
