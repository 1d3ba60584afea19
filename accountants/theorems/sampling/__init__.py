"""Theorems about batches drawn at random: amplification by subsampling."""
