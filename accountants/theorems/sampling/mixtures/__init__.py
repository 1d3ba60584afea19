"""Batches in which a client's records, or a record's contributions, add up to a random size."""
