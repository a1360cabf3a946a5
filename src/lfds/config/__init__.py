"""What can be chosen, and by which name. Nothing here imports torch."""
