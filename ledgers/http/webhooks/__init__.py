"""Webhooks of ledgers: signed messages about what an operator has to know, sent until they are received."""
