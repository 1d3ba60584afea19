"""Theorems about runs of which only one model is released."""
