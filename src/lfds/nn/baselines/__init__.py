"""The poolings that ours is compared with."""
