"""Audits: lower bounds on ε from attacks on a running mechanism."""
