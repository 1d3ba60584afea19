"""Targets: (ε, δ), or a risk in place of ε."""
