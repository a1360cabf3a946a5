"""What runs found, for people to look at: a page, tables, figures. Nothing here imports torch."""
