"""Asoodeh et al. 2021: excess risk of one pass of projected SGD."""
