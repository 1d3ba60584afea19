"""Runs of noisy descent of Lowy and Razaviyayn, and explicit bounds on their excess risk."""
