"""Books for tests, with ledgers and jobs that cost next to nothing to account for."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from epsilond.ledgers.book.book import Book
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.requests import OpenLedger, ReserveAsked
from epsilond.reading import read
from epsilond.storage.transactions import Database

ORIGIN = "example.org/ledger"
KEYS = SigningKeys.new(SigningKey.new(ORIGIN), datetime(2026, 1, 1, tzinfo=UTC))
TENANT = "hospital"
NOISE = 10.0
"""Of a query, which costs 0.01 of μ²."""
QUERY = {"kind": "gaussian", "noise_multiplier": NOISE}
STEP = {
    "kind": "subsampled",
    "sampling": "poisson",
    "rate": 0.01,
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.0},
}
JOB = {"kind": "repeated", "times": 200, "mechanism": STEP}
RARE = {"kind": "repeated", "times": 200, "mechanism": STEP | {"rate": 0.001}}
_KEYS = itertools.count()


def key() -> str:
    """A new idempotency key."""
    return f"key-{next(_KEYS)}"


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def book(database: Database, **more: Any) -> Book:
    """The book in a database."""
    return Book(database, lambda: KEYS, **more)


def opening(**changed: Any) -> OpenLedger:
    """What is asked to open a ledger with a plan and a Gaussian slot of 0.1001."""
    asked: dict[str, Any] = {
        "name": "people",
        "dataset": "people",
        "unit": "record",
        "relation": "add-or-remove-one",
        "observer": "server",
        "target": {"epsilon": 8.0, "delta": 1e-6},
        "plan": [{"name": "train", "spec": JOB}],
        "slots": [{"kind": "gdp", "capacity": {"mu_squared": "0.1001", "eta": "1e-7"}}],
        "declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": False},
    }
    return read(OpenLedger, asked | changed)


def query(**changed: Any) -> ReserveAsked:
    """What is asked to reserve one query in the Gaussian slot."""
    return read(ReserveAsked, {"slot": "gdp", "spec": QUERY} | changed)


def runs(**asked: Any) -> ReserveAsked:
    """What is asked to reserve runs."""
    return read(ReserveAsked, asked)
