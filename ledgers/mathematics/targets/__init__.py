"""Targets of ledgers: (ε, δ), or a risk with the (ε, δ) that it implies."""
