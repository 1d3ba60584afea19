"""Estimates for the truncated discrete Laplace distribution."""
