"""Reservations of the caller's runs: committed before anything is released, and cancelled otherwise."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from epsilond.accountants.errors import EpsilondError
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.bodies import key_or_new
from epsilond.ledgers.client.place import Answer, Place
from epsilond.ledgers.client.runs import RunNotes
from epsilond.ledgers.log.receipts import Receipt


class HeldRun:
    """Reserved runs of a mechanism. At the end of its `with` block, runs that were not committed are given back.

    Attributes:
        id: id of the reservation, for `Books.run`.
        receipts: receipts of all commits by this object, one for each commit and ledger, in order.
    """

    def __init__(self, place: Place, runs: RunNotes, answer: Answer) -> None:
        """Represent a reservation in a file or on a service.

        Args:
            place: the file or the service.
            runs: durable marks of the receipts that were used for runs.
            answer: description of the reservation by the file or service, a JSON object.
        """
        self.id: str = answer["id"]
        self.receipts: list[Receipt] = []
        self._place = place
        self._runs = runs
        self._answer = answer

    def commit(self, count: int | None = None, *, key: str | None = None, begin: bool = True) -> Receipt:
        """Commit runs: spend their budget, after which they may take place and their outputs be released.

        The receipts are marked as used before this method returns, so that a restart cannot use them a second time.

        Args:
            count: number of runs; None means all that are left.
            key: idempotency key of the request; None makes a new one.
            begin: whether to mark the receipts as used. Pass False if another process executes the runs and calls
                `begin`.

        Returns:
            The receipt in the first ledger. `receipts` has the receipts in all ledgers.

        Raises:
            LedgerExhausted: other runs were committed since the reservation, and these no longer fit the budget.
            ReservationEnded: the reservation was cancelled or has expired.
            RunDiffers: a run was observed to differ from the mechanism that was paid for.
            InvalidInput: fewer runs are reserved.
            ReceiptUsed: the key belongs to an earlier commit with a receipt that is marked as used.
            Unanswered: the outcome is not known, and nothing may be run. The same request with the same key shows it.
        """
        body = {} if count is None else {"count": count}
        receipts = self._place.commit(self.id, body, key_or_new(key))
        if begin:
            self._runs.begin(receipts)
        self.receipts += receipts
        first_receipt, *_ = receipts
        return first_receipt

    def begin(self, *receipts: Receipt) -> None:
        """Mark receipts as used, durably, before the runs that they permit begin.

        Args:
            receipts: receipts of committed runs. Each can be used once.

        Raises:
            ReceiptUsed: a receipt was marked before.
        """
        self._runs.begin(receipts)

    def cancel(self) -> ReadableAnswer:
        """Give back the runs that were not committed, and return the reservation.

        If some planned runs were committed, the others stay available to their item of the plan as credit. A
        reservation that has ended does not change.
        """
        self._answer = self._place.cancel(self.id)
        return ReadableAnswer(self._answer)

    def show(self) -> ReadableAnswer:
        """Request the reservation as it is now, with its state, its runs in each ledger and its charge."""
        self._answer = self._place.reservation(self.id)
        return ReadableAnswer(self._answer)

    @property
    def charge(self) -> ReadableAnswer | None:
        """Charge of runs that are not planned; None for planned runs, because the plan of the ledger pays for them."""
        charge = self._answer.get("charge")
        if charge is None:
            return None
        return ReadableAnswer(charge)

    @property
    def expires(self) -> str | None:
        """Time at which the reservation expires, in UTC; None if the answer has no such time."""
        return self._answer.get("expires")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back the runs that were not committed.

        If the block raised an error, an error of this method is suppressed. The reservation then expires by itself.

        Args:
            kind: class of the error that the block raised, or None.
            error: this error, or None.
            trace: traceback of the error, or None.
        """
        if error is None:
            self.cancel()
            return
        with suppress(EpsilondError):
            self.cancel()

    def __repr__(self) -> str:
        return f"HeldRun({self.id!r})"
