"""Data sets in the files in which their authors publish them."""
