"""Searches over one number: a count of runs, a noise multiplier, or the capacity of a slot."""
