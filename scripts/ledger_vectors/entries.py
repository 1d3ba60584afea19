"""A small log with an entry of every kind, written by the book itself."""

from __future__ import annotations

import itertools
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from pathlib import Path
from typing import Any
from unittest import mock

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.book.logged.entries import entry
from epsilond.ledgers.correction_requests import AmendAsked, ContradictAsked, VoidAsked
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.mathematics.charges import gaussian
from epsilond.ledgers.mathematics.residue import Residue, least_cost
from epsilond.ledgers.requests import CommitAsked, OpenLedger, ReserveAsked
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.opening import open_store
from epsilond.ledgers.store.records import LedgerRow, ReservationRow
from epsilond.ledgers.store.transactions import looking
from epsilond.reading import read

ORGANISATION = "hospital"
OWNER, ANALYST, APPROVER, OPERATOR = "ada", "ben", "cleo", "dan"
START = 1_800_000_000.0
"""Time of the first entry, in seconds since 1970: 15 January 2027."""
QUERY = {"kind": "gaussian", "noise_multiplier": 10.0}
NOISE = {"kind": "gaussian", "noise_multiplier": 1.0}
STEP = {"kind": "subsampled", "sampling": "poisson", "rate": 0.001, "mechanism": NOISE}
JOB = {"kind": "repeated", "times": 200, "mechanism": STEP}
LAPLACE = {"kind": "laplace", "scale_multiplier": 10.0}
COMMON = {"unit": "record", "relation": "add-or-remove-one", "observer": "server"}
ADAPTIVE = {"inputs": "functions-of-releases", "sealed": False, "released_before": False}
SLOTS = [
    {"kind": "gdp", "capacity": {"mu_squared": "0.1", "eta": "1e-7"}},
    {"kind": "zcdp", "capacity": {"rho": "0.01", "delta": "1e-8"}},
    {"kind": "rdp", "capacity": {"orders": [2, 8.5], "budget": "0.05"}},
    {"kind": "pure", "capacity": {"epsilon": "0.2", "delta": "0"}},
]
LEDGER = {
    "name": "people",
    "dataset": "Patients",
    "block": "2027",
    "target": {"epsilon": 12.0, "delta": 1e-5},
    "plan": [{"name": "train", "spec": {"kind": "repeated", "times": 10, "mechanism": QUERY}}],
    "slots": SLOTS,
    "declared": ADAPTIVE,
}
OTHER_LEDGER = {
    "name": "Ärzte 𝔾",
    "dataset": "doctors",
    "target": {"epsilon": 2.0, "delta": 1e-6},
    "plan": [{"name": "count", "spec": {"kind": "repeated", "times": 4, "mechanism": QUERY}}],
    "declared": ADAPTIVE | {"sealed": True},
}
GATED_LEDGER = OTHER_LEDGER | {"name": "nurses", "dataset": "nurses", "approval": True}
DAILY_LEDGER = OTHER_LEDGER | {"name": "visitors", "dataset": "visits", "unit": {"of": "client", "window": "day"}}
OBSERVATION = {"premise": "fresh-draw", "message": "a batch was used twice", "remedy": "Draw it anew.", "count": 12}
UNCOUNTED = {"premise": "noise", "message": "a step had no noise", "remedy": "Add the noise.", "count": 0}

_TWELVE_DIGITS = Context(prec=12, rounding=ROUND_CEILING)
_SIX_DIGITS = Context(prec=6, rounding=ROUND_CEILING)


class Clock:
    """A clock that advances by a minute with each reading."""

    def __init__(self) -> None:
        self._now = START

    def __call__(self) -> float:
        self._now += 60.0
        return self._now


class Writer:
    """A writer of a fixed log: it calls a book of ledgers, with an idempotency key of its own for each call.

    Attributes:
        book: the book, which records every call in its log.
    """

    def __init__(self, book: Book) -> None:
        self.book = book
        self._keys = (f"key-{number}" for number in itertools.count())

    def open(self, asked: JsonRecord) -> LedgerRow:
        """Open a ledger."""
        return self.book.open(ORGANISATION, read(OpenLedger, COMMON | asked), next(self._keys), by=OWNER)

    def reserve(self, ledger: LedgerRow, **asked: Any) -> ReservationRow:
        """Reserve runs in a ledger."""
        return self.book.reserve(ORGANISATION, [ledger.id], read(ReserveAsked, asked), next(self._keys), by=ANALYST)

    def commit(self, held: ReservationRow, **asked: Any) -> None:
        """Commit runs of a reservation."""
        self.book.commit(ORGANISATION, held.id, read(CommitAsked, asked), next(self._keys), by=ANALYST)

    def change(self, move: str, ledger: LedgerRow, *asked: object, by: str = OWNER) -> None:
        """Change the state of a whole ledger, for example seal or close it.

        Args:
            move: name of the method of the book.
            ledger: the ledger.
            *asked: further arguments of the method.
            by: name of the person who makes the change.
        """
        getattr(self.book, move)(ORGANISATION, ledger.id, *asked, next(self._keys), by=by)

    def approve(self, ledger: LedgerRow) -> None:
        """Approve the moves of a ledger that wait for a second person."""
        for move in self.book.pending(ORGANISATION, ledger.id):
            self.book.approve(ORGANISATION, ledger.id, move.id, by=APPROVER)


def every_kind(keys: SigningKeys) -> list[JsonRecord]:
    """Return the entries of a log that has every kind of entry and every kind of charge.

    Args:
        keys: the keys of the log.
    """
    return _write_log(keys, _write_every_kind)


def short(keys: SigningKeys) -> list[JsonRecord]:
    """Return the entries of a log of one ledger with a few runs.

    Args:
        keys: the keys of the log.
    """
    return _write_log(keys, _write_short)


def _write_log(keys: SigningKeys, write: Callable[[Writer], None]) -> list[JsonRecord]:
    """Return the log entries that calls of a new book write.

    Identifiers are numbered in the order in which they are made, in place of random ones, and the clock is a fixed one.

    Args:
        keys: keys that sign the log.
        write: function that makes the calls.

    Returns:
        The entries in order, with rounded figures.
    """
    numbers = itertools.count(1)
    numbered = mock.patch.object(secrets, "token_urlsafe", side_effect=lambda _: str(next(numbers)))
    rounded = mock.patch.object(gaussian, "least_cost", _rounded_least_cost)
    with tempfile.TemporaryDirectory() as folder, numbered, rounded:
        database = open_store(Path(folder) / "ledgers.sqlite")
        try:
            write(Writer(Book(database, lambda: keys, clock=Clock())))
            with looking(database) as connection:
                return [_round_certified(entry(row)) for row in entries.page(connection, limit=1000)]
        finally:
            database.close()


def _rounded_least_cost(*job: Any, **slot: Any) -> Residue | None:
    """Return the certified cost of a job in a Gaussian slot, rounded up to six digits.

    A search finds this cost. Its result differs between machines by about 1e-10 of it. A larger cost is valid too.

    Args:
        *job: parts of the job, the argument of `least_cost`.
        **slot: amounts of the slot, the further arguments of `least_cost`.
    """
    residue = least_cost(*job, **slot)
    return None if residue is None else replace(residue, cost=_SIX_DIGITS.create_decimal(residue.cost))


def _round_certified(written: JsonRecord) -> JsonRecord:
    """Round the certified figures of a log entry up to 12 digits, so that every machine gives the same text.

    Args:
        written: entry of a log, which is not changed.

    Returns:
        A copy with rounded figures, or the entry itself if it has none.
    """
    certified = written.get("certified")
    if certified is None:
        return written
    rounded = {name: str(_TWELVE_DIGITS.create_decimal(figure)) for name, figure in certified.items()}
    return {**written, "certified": rounded}


def _write_short(writer: Writer) -> None:
    """Write a log of one ledger with commits, a cancelled reservation and a closing."""
    doctors = writer.open(OTHER_LEDGER)
    writer.commit(writer.reserve(doctors, item="count", count=2), count=1)
    writer.book.cancel(ORGANISATION, writer.reserve(doctors, item="count", count=1).id, by=ANALYST)
    writer.commit(writer.reserve(doctors, item="count", count=1))
    writer.change("close", doctors)


def _write_every_kind(writer: Writer) -> None:
    """Write a log with every kind of entry.

    There are four ledgers: an adaptive one, a sealed one, one with approval, and one that protects a client's day.

    Args:
        writer: the writer, with an empty book.
    """
    # The adaptive ledger: planned items, free slots, an expired reservation, an amendment, and a voided run.
    people = writer.open(LEDGER)
    writer.change("amend", people, read(AmendAsked, {"add": [{"name": "extra", "spec": QUERY}]}))
    writer.change("seal", people)
    train = writer.reserve(people, item="train", count=5)
    writer.commit(train, count=2)
    writer.book.cancel(ORGANISATION, train.id, by=ANALYST)
    query = writer.reserve(people, slot="gdp", spec=QUERY, count=2)
    writer.commit(query)
    for slot, spec in (("zcdp", QUERY), ("rdp", QUERY), ("pure", LAPLACE), ("gdp", JOB)):
        writer.commit(writer.reserve(people, slot=slot, spec=spec))
    writer.reserve(people, item="train", expires_in=1.0)
    writer.book.expire()
    lower = {"lower": [{"name": "extra", "planned": 0}], "declared": "independent-of-outputs"}
    writer.change("amend", people, read(AmendAsked, lower))
    void = {"reservation": query.id, "count": 1, "declared": "no-output-observed"}
    writer.change("void", people, read(VoidAsked, void), by=APPROVER)
    # The sealed ledger, and observations that contradict runs of the first one.
    doctors = writer.open(OTHER_LEDGER)
    writer.commit(writer.reserve(doctors, item="count"))
    contradiction = {"observations": [OBSERVATION], "reservations": [train.id]}
    writer.change("contradict", people, read(ContradictAsked, contradiction), by=ANALYST)
    writer.change("contradict", people, read(ContradictAsked, {"observations": [UNCOUNTED]}), by=ANALYST)
    writer.change("close", doctors)
    # The ledger in which a second person approves each change.
    nurses = writer.open(GATED_LEDGER)
    writer.change("amend", nurses, read(AmendAsked, {"add": [{"name": "extra", "spec": QUERY}]}))
    writer.approve(nurses)
    writer.book.request_reconciliations(OPERATOR, "The log lacks an entry.")
    writer.approve(nurses)
    # The ledger that protects what a client contributes in a day.
    visitors = writer.open(DAILY_LEDGER)
    writer.commit(writer.reserve(visitors, item="count", count=2))
