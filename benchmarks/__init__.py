"""Speed and memory, beside the peers, in one run; see README.md here."""
