"""Reports on runs: a page, tables, figures. Nothing here imports torch."""
