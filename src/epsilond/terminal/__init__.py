"""Answers for a reader at a terminal: what all are shown with in `parts`, and a file for each kind of answer."""
