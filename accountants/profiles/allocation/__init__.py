"""Pairs of random allocation: distributions of sums of likelihood ratios, bounded in the convex order."""
