"""Composed lattice laws by their Fourier transforms."""
