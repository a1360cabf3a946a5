"""Pure functions on ragged batches, each with its own gradient."""
