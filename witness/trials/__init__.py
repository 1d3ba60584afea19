"""Trials of the papers' own programs on their own data, with the scores of each trial."""
