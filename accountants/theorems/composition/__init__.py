"""Theorems about several releases together."""
