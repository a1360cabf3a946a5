"""The page of results beside the paper's Table 1, made from records alone."""
