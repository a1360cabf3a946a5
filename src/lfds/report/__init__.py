"""What runs found, for people to look at: a page, tables and figures. Nothing here imports torch."""
