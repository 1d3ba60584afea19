"""Measurements of the simulators beside what the theorems promise, the figures of them, and the papers' experiments."""
