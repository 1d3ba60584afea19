"""Ledgers as a library has them: the same words on a file of one's own and on a service."""
