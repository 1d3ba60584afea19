"""Noise on integers."""
