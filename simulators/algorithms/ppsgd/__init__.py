"""PPSGD of Bietti et al.: the request, the random draws, and the simulation."""
