"""Sums over the frequencies of a lattice, which are periodic functions of the lattice point."""
