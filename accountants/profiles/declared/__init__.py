"""Pairs of mechanisms that are known by bounds."""
