"""Calibrations and plans within the remaining budget of a ledger: pure functions of its state."""
