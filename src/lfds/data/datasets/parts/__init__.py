"""Generated datasets of objects made of parts, on which maximum and mean pooling must fail."""
