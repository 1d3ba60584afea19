"""Noisy mini-batch and local SGD on the records of a few silos, many runs at once."""
