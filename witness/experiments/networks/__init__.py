"""Experiments with networks on the papers' own images; to run them needs torch."""
