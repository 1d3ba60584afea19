"""Routes of ledgers, their reservations, and the log of their entries."""
