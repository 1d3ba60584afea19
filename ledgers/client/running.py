"""A reservation in the hands of whoever runs it: committed before anything is released, given back where it was not."""

from __future__ import annotations

import secrets
from contextlib import suppress
from types import TracebackType
from typing import Self

from epsilond.accountants.errors import EpsilondError
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.place import Answer, Place
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.receipts import Receipt


class HeldRun:
    """Runs of a mechanism that are held. Left without a commit they return; after a part, the rest returns as credit.

    Attributes:
        id: of the reservation; `Books.run` finds it again.
        receipts: of the commits of this object, in their order; those of all its ledgers.
    """

    def __init__(self, place: Place, runs: RunNotes, told: Answer) -> None:
        """Represent a reservation by the answer of its place."""
        self.id: str = told["id"]
        self.receipts: list[Receipt] = []
        self._place = place
        self._runs = runs
        self._told = told

    def commit(self, count: int | None = None, *, key: str | None = None, begin: bool = True) -> Receipt:
        """Commit runs, all that are left unless `count` says fewer; once it returns, they may be run and released.

        The receipt is noted as used before it is given, so that no restart runs on it again; with `begin=False` that is
        left to `begin`, where another process runs. Each call has an idempotency key of its own, unless one is told.

        Raises:
            LedgerExhausted: the slot has fallen since, and a job that is charged as a whole costs more than is free.
            ReservationEnded: it was cancelled or has expired.
            RunDiffers: an observation contradicts a run that was paid from the ledger.
            InvalidInput: fewer runs are held.
            ReceiptUsed: the key is that of a commit before, whose run was begun.
            Unanswered: what became of it is not known; nothing may be run. The same key asked again tells.
        """
        body = {} if count is None else {"count": count}
        found = self._place.commit(self.id, body, _key(key))
        if begin:
            self._runs.begin(found)
        self.receipts += found
        return found[0]

    def begin(self, *receipts: Receipt) -> None:
        """Note durably that the run of these receipts begins now.

        Raises:
            ReceiptUsed: one was used before.
        """
        self._runs.begin(receipts)

    def cancel(self) -> ReadableAnswer:
        """Give back what was not committed: as credit once a part of it was. One that has ended stays as it is."""
        self._told = self._place.cancel(self.id)
        return ReadableAnswer(self._told)

    def show(self) -> ReadableAnswer:
        """Return the reservation as it is now: its state, its holdings and its charge."""
        self._told = self._place.reservation(self.id)
        return ReadableAnswer(self._told)

    @property
    def charge(self) -> ReadableAnswer | None:
        """The charge in the slot; None for an item of the plan."""
        found = self._told.get("charge")
        return None if found is None else ReadableAnswer(found)

    @property
    def expires(self) -> str | None:
        """When it ends by itself, in UTC."""
        return self._told.get("expires")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.cancel()
            return
        with suppress(EpsilondError):  # what went wrong is told; the reservation expires by itself
            self.cancel()

    def __repr__(self) -> str:
        return f"HeldRun({self.id!r})"


def _key(told: str | None) -> str:
    return secrets.token_urlsafe(24) if told is None else told
