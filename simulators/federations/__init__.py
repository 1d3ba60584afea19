"""Clients of a run that differ in their number of records, batch size, weight and noise."""
