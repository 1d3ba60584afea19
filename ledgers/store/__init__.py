"""Where ledgers are kept: rows, their constraints, and the transactions that change them; no mathematics."""
