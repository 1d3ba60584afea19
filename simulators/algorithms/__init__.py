"""The algorithms, run as their papers describe them."""
