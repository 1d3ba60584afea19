"""Experiments on the papers' own data, one file for each."""
