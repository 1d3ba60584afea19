"""Answers for a reader at a terminal: shared parts in `parts`, and a file for each kind of answer."""
