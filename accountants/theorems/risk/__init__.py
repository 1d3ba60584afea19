"""Theorems about excess risk and convergence, one folder for each paper."""
