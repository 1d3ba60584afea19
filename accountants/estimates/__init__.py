"""Estimates of δ, ε and noise, which decide where searches start, and how curves are read near a target."""
