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
    """Reserved runs of a mechanism. Leaving its `with` block returns the runs that were not committed.

    After a commit of some runs, the others return as credit.

    Attributes:
        id: id of the reservation, for `Books.run`.
        receipts: receipts of the commits of this object, in their order, of all its ledgers.
    """

    def __init__(self, place: Place, runs: RunNotes, answer: Answer) -> None:
        """Represent a reservation in a file or a service by the answer that described it.

        Args:
            place: the file or the service.
            runs: notes on the receipts that were used for runs.
            answer: description of the reservation, a JSON object.
        """
        self.id: str = answer["id"]
        self.receipts: list[Receipt] = []
        self._place = place
        self._runs = runs
        self._answer = answer

    def commit(self, count: int | None = None, *, key: str | None = None, begin: bool = True) -> Receipt:
        """Commit runs, after which they may be run and their outputs released.

        The receipts are noted as used before this method returns, so that no restart uses them for a second run.

        Args:
            count: number of runs; None means all that are left.
            key: idempotency key of the request; None makes a new one.
            begin: whether to note the receipts as used. Pass False if another process executes the runs and calls
                `begin`.

        Returns:
            The receipt in the first ledger. `receipts` has the receipts in all ledgers.

        Raises:
            LedgerExhausted: other runs were committed meanwhile, and a job that is charged as a whole no longer fits.
            ReservationEnded: the reservation was cancelled or has expired.
            RunDiffers: a run was observed to differ from the mechanism that was paid for.
            InvalidInput: fewer runs are reserved.
            ReceiptUsed: the key belongs to an earlier commit, and its run was begun.
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
        """Note durably that the run of these receipts begins now.

        Args:
            receipts: receipts of committed runs; each permits one run.

        Raises:
            ReceiptUsed: a receipt was used before.
        """
        self._runs.begin(receipts)

    def cancel(self) -> ReadableAnswer:
        """Give back the runs that were not committed, and return the reservation.

        If some runs were committed, the others stay reserved to the job's plan item as credit. A reservation that has
        ended does not change.
        """
        self._answer = self._place.cancel(self.id)
        return ReadableAnswer(self._answer)

    def show(self) -> ReadableAnswer:
        """Return the reservation as it is now: its state, its holdings and its charge."""
        self._answer = self._place.reservation(self.id)
        return ReadableAnswer(self._answer)

    @property
    def charge(self) -> ReadableAnswer | None:
        """The charge that the slot pays for the runs; None if the runs are planned, and paid by an item of the plan."""
        charge = self._answer.get("charge")
        if charge is None:
            return None
        return ReadableAnswer(charge)

    @property
    def expires(self) -> str | None:
        """Time at which the reservation expires, in UTC."""
        return self._answer.get("expires")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back the runs that were not committed.

        If the block raised an error, an error of this method is suppressed. The reservation then expires by itself.

        Args:
            kind: class of the error of the block, if there is one.
            error: the error.
            trace: its traceback.
        """
        if error is None:
            self.cancel()
            return
        with suppress(EpsilondError):
            self.cancel()

    def __repr__(self) -> str:
        return f"HeldRun({self.id!r})"
