"""One module for each file format or type of object that graphs are read from."""
