"""Measurements of the simulators next to the bounds of the theorems, their figures, and the papers' experiments."""
