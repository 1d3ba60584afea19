"""Profiles of products of pairs."""
