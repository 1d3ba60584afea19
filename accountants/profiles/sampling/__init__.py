"""The inclusion of a record in a batch."""
