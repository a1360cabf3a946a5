"""The tables of docs/results.md: their manifest, and the commands that run and write them."""
