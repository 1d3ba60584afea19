"""Ledgers in the service: the book in the jobs' database, its keys, and its calls in threads and workers."""
