"""Simulations as jobs of the service: taken in, queued, run, kept."""
