"""Drills: faults of a deployment, caused in a temporary store, with their expected outcomes."""
