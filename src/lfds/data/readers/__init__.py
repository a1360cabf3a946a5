"""One module for each kind of file or object that graphs come from."""
