"""Small ledgers to try things on."""

from __future__ import annotations

import epsilond
from epsilond.ledgers.client.local import FilePlace

STEP = epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=epsilond.Gaussian(noise_multiplier=1.0))
TRAINING = epsilond.Repeated(times=1000, mechanism=STEP)
QUERY = epsilond.Gaussian(noise_multiplier=10.0)
ASKED = {
    "name": "hospital",
    "dataset": "images",
    "unit": "record",
    "relation": "add-or-remove-one",
    "observer": "server",
    "epsilon": 3.0,
    "delta": 1e-6,
    "plan": {"train": TRAINING},
    "slots": ["gdp"],
    "sealed": True,
}


def opened(folder, **changed):
    """Books in a file of this folder, and a ledger in them."""
    books = epsilond.ledger(folder / "ledger.db")
    return books, books.open(**{**ASKED, **changed})


def book_of(books):
    """The book behind books on a file."""
    assert isinstance(books._place, FilePlace)
    return books._place._book
