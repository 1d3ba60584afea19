"""Test vectors of docs/ledger-format.md: fixed keys, entries of every kind, proofs, and evidence that must fail."""
