"""Composition of Poisson-subsampled Gaussian steps with so little noise that few steps reveal anything."""
