"""Exact samplers of the mechanisms."""
