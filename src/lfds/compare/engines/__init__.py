"""Who runs the folds of a comparison: this process, several, or a Ray cluster."""
