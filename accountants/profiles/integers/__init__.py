"""Pairs of integer noise and its shift, from tables of the noise's probabilities."""
