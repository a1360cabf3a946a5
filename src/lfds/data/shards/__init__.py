"""A GraphSet in parts on disk, which may be larger than memory."""
