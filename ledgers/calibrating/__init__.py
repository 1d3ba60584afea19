"""Calibrations and plans within what is left of a ledger: pure functions of its state."""
