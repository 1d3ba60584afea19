"""Clients of a run that differ: how many records they have, draw and weigh, and what noise they add."""
