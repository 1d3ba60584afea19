"""Webhooks of ledgers: signed messages about events that an operator must know, sent until they are received."""
