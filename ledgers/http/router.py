"""The routes of ledgers: one call adds all of them to the service."""

from __future__ import annotations

from fastapi import FastAPI

from epsilond.ledgers.http import corrections, ledgers, log, reservations


def add(app: FastAPI) -> None:
    """Add the routes of ledgers, reservations, pending moves and the log, the most frequent first.

    Args:
        app: the application.
    """
    ledgers.add(app)
    reservations.add(app)
    corrections.add_pending(app)
    log.add(app)
