"""Mechanisms that select one of several outcomes."""
