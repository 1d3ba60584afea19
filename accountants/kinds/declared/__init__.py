"""Mechanisms of which only a guarantee is known, which the caller declares."""
