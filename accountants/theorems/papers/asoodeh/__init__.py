"""Asoodeh et al. 2021: privacy of one pass of projected SGD."""
