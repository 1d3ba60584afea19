"""Callers: their keys, addresses and tokens, and their rights."""
