"""Ledgers in the library, with the same methods for a file and for a service."""
