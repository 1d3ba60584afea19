"""PPSGD of Bietti et al.: its run, its draws, and the algorithm."""
