"""Tamper evidence: a Merkle tree of entries, signed checkpoints, receipts, and how anybody verifies them.

It knows no database: hashes are stored behind `tree.Nodes`. What a log proves is what was written, and that it was not
rewritten since; that nothing was run without being written, no log can prove.
"""
