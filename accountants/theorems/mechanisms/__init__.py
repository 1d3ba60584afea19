"""Theorems about single mechanisms: what one release guarantees."""
