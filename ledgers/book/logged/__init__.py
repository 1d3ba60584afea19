"""Changes of ledgers as entries of the log, with the answers and the fingerprints of their requests."""
