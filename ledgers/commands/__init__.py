"""`epsilond ledger`: a budget that is held over time, in a file or on a service."""
