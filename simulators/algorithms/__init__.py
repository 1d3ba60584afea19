"""The algorithms, as described in their papers."""
