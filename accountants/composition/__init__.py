"""Composition of pairs: an ordered list of methods, and the product that tries them."""
