"""Observation of a run with Opacus: draws, rows, clipping, noise, divisor, parts and parameters, at every step."""
