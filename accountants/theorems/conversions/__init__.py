"""Theorems that turn one notion of privacy into another."""
