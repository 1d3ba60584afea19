"""Checks that a ledger and its reservations permit a requested change."""
