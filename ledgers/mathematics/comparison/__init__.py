"""Certificates that one privacy profile stays below another at every ε."""
