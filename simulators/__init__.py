"""Simulations of the algorithms and attacks on the mechanisms, independent of all theorems."""
