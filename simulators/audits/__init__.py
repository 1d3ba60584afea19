"""Attacks on mechanisms: outputs under two neighbouring data sets, and the lower bounds on ε that they prove."""
