"""Tamper evidence: a Merkle tree of entries, signed checkpoints, receipts, and their verification by anyone.

The package knows no database: hashes are stored behind `tree.HashStore`. A log proves which entries were written and
that they were not rewritten since. No log can prove that every run was written.
"""
