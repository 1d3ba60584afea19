"""Interface of the library to a place of ledgers: a file or a service. Bodies and answers are as over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.log.bundles import Bundle
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.requests import Order

Body: TypeAlias = JsonObject
Answer: TypeAlias = JsonRecord


class Place(Protocol):
    """Interface to the ledgers in a file or on a service, with the same methods for both.

    Methods that change something take the idempotency key of their request. A request with the same key has no second
    effect.

    Raises:
        InvalidInput: a request is not valid.
        NoCertificate: a change is not possible. LedgerExhausted has the nearest numbers of runs that fit.
        Refused: there is no such ledger, or the service refuses for another reason.
        Unanswered: no answer came from the service.
    """

    warnings: dict[str, str]
    """Texts of all warnings so far, by their codes."""

    def open(self, body: Body, key: str, *, by: str | None = None) -> Answer:
        """Open a new ledger, and return it as a JSON object.

        Args:
            body: body of the request, as over HTTP.
            key: idempotency key of the request.
            by: name of the caller, for a file. It must be None for a service, which knows the caller by the API key.
        """

    def ledgers(self) -> list[Answer]:
        """Return summaries of all ledgers."""

    def ledger(self, identifier: str) -> Answer:
        """Return a ledger with its balances, its curve and its conditions."""

    def entries(self, identifier: str, start: int, order: Order = "oldest", limit: int | None = None) -> list[Answer]:
        """Return the log entries of a ledger, each of which records one change.

        Args:
            identifier: id of the ledger.
            start: smallest number of an entry in the log that is returned.
            order: whether the oldest or the newest entries come first.
            limit: largest number of entries; None means all.

        Returns:
            The entries, as JSON objects.
        """

    def what_if(self, identifier: str, body: Body) -> Answer:
        """Return the privacy cost of runs of a mechanism, and whether the ledger's budget has room. Change nothing."""

    def calibrate(self, identifier: str, algorithm: str, body: Body) -> Answer:
        """Find parameters of an algorithm with which a run uses the remaining budget. Nothing is reserved.

        Args:
            identifier: id of the ledger.
            algorithm: name of the algorithm.
            body: body of the request, as over HTTP.

        Returns:
            The request for the calibration, the mechanism (`spec`) to reserve, and its charge.
        """

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        """Reserve runs in all of these ledgers or in none.

        Args:
            ledgers: ids of the ledgers.
            body: body of the service's request.
            key: idempotency key of the request.

        Returns:
            The reservation as a JSON object.
        """

    def reservation(self, identifier: str) -> Answer:
        """Return a reservation as it is now."""

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        """Commit reserved runs, which spends their budget.

        Args:
            identifier: id of the reservation.
            body: body of the request, as over HTTP.
            key: idempotency key of the request.

        Returns:
            A verified receipt for each ledger. With the receipts the runs may begin.
        """

    def cancel(self, identifier: str) -> Answer:
        """Give back the reserved runs that were not committed, and return the reservation."""

    def seal(self, identifier: str, key: str) -> None:
        """Declare that it is fixed from now on which records belong to the block of the ledger."""

    def close_ledger(self, identifier: str, key: str) -> None:
        """Close a ledger: from now on no runs can be reserved in it."""

    def amend(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        """Change the plan of a ledger, or request the change if a second person must approve it.

        The plan is a list of mechanisms with numbers of runs.

        Args:
            identifier: id of the ledger.
            body: body of the service's request.
            key: idempotency key of the request.
            by: name of the caller, if the file or service does not know it.

        Returns:
            The pending change. None if the plan was changed at once.
        """

    def void(self, identifier: str, body: Body, key: str, *, by: str | None = None) -> Answer | None:
        """Return the budget of committed runs of which no output was seen, or request this from a second person.

        Args:
            identifier: id of the ledger.
            body: body of the service's request.
            key: idempotency key of the request.
            by: name of the caller, if the file or service does not know it.

        Returns:
            The pending change. None if the budget was returned at once.
        """

    def pending(self, identifier: str) -> list[Answer]:
        """Return the changes of a ledger that wait for a second person."""

    def approve(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """Approve a requested change as a second person, so that it is made.

        Args:
            identifier: id of the ledger.
            move: id of the change.
            by: name of the caller, if the file or service does not know it.

        Returns:
            The change in its final state.
        """

    def reject(self, identifier: str, move: str, *, by: str | None = None) -> Answer:
        """End a requested change without making it.

        Args:
            identifier: id of the ledger.
            move: id of the change.
            by: name of the caller, if the file or service does not know it.

        Returns:
            The change in its final state.
        """

    def contradict(self, identifier: str, body: Body, key: str) -> None:
        """Block all further commits, because a run was observed to differ from the mechanism that was paid for.

        Args:
            identifier: id of the ledger.
            body: `observations` of the difference, and `reservations` that paid for the run.
            key: idempotency key of the request.
        """

    def report(self, identifier: str) -> str:
        """Return the ledger as a signed page of HTML."""

    def checkpoint(self) -> str:
        """Return the signed head of the log."""

    def reconcile(self, checkpoint: str | None, declared: str | None, *, by: str | None = None) -> Answer:
        """Compare the log with a signed head that was stored earlier, for example after a restore from a backup.

        Args:
            checkpoint: the stored head as a signed note; None means the newest one that the file or service knows.
            declared: `missing-entries-are-accounted-for`, by which an operator accepts a log that lacks entries; None
                to compare only.
            by: name of the caller, if the file or service does not know it.

        Returns:
            The present head as `checkpoint`. `accepted` is the reason if a log that does not continue the stored head
            was accepted. `waiting` is the number of ledgers in which a second person must approve this, if any.
        """

    def keys(self) -> Answer:
        """Return the published keys."""

    def bundle(self, identifier: str | None) -> Bundle:
        """Return receipts and proofs of log entries: of one ledger, or of all that the caller may see for None."""

    def close(self) -> None:
        """Release the resources of the place."""
