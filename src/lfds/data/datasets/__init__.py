"""Datasets by name: the catalog, downloads, and those that are generated."""
