"""Theorems about reports that a shuffler mixes."""
