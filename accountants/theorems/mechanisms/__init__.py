"""Theorems about one release of a single mechanism."""
