"""Slow computations for requests on ledgers: in worker processes, and cached."""
