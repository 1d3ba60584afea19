"""Attacks on mechanisms: draws under two neighbouring data sets, and what telling them apart proves of ε."""
