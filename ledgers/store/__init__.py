"""The store of ledgers: rows, their constraints, and the transactions that change them; no mathematics."""
