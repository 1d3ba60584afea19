"""Where ledgers are kept, as the library speaks to it: bodies and answers are those of the HTTP service."""

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
    """A book on a file, or a service. Whatever changes something takes the idempotency key of its request.

    Raises, whichever method:
        InvalidInput, NoCertificate: as the moves of `accountants.ledger` do; LedgerExhausted has what would fit.
        Refused, Unanswered: there is no such ledger, or no answer.
    """

    warnings: dict[str, str]
    """Warnings in the answers of the place, by their codes."""

    def open(self, body: Body, key: str) -> Answer:
        """A new ledger."""

    def ledgers(self) -> list[Answer]:
        """All of them, in short."""

    def ledger(self, identifier: str) -> Answer:
        """One ledger, with its balances, its curve and what it rests on."""

    def entries(self, identifier: str, start: int, order: Order = "oldest", limit: int | None = None) -> list[Answer]:
        """Its entries from this number of the log on, all or so many of the oldest or the newest."""

    def what_if(self, identifier: str, body: Body) -> Answer:
        """What a job would cost, and whether it fits."""

    def calibrate(self, identifier: str, algorithm: str, body: Body) -> Answer:
        """The request whose run takes what is left, its spec and what it would be charged; nothing is reserved."""

    def reserve(self, ledgers: Sequence[str], body: Body, key: str) -> Answer:
        """A reservation in all of these or in none."""

    def reservation(self, identifier: str) -> Answer:
        """What became of a reservation."""

    def commit(self, identifier: str, body: Body, key: str) -> list[Receipt]:
        """The receipts of a commit, one for each ledger, verified."""

    def cancel(self, identifier: str) -> Answer:
        """The reservation, of which what was not committed has returned."""

    def seal(self, identifier: str, key: str) -> None:
        """The membership of the block is fixed."""

    def close_ledger(self, identifier: str, key: str) -> None:
        """Nothing more is reserved."""

    def amend(self, identifier: str, body: Body, key: str) -> None:
        """The plan is another from now on."""

    def void(self, identifier: str, body: Body, key: str) -> None:
        """Committed runs are taken back on a declaration."""

    def contradict(self, identifier: str, body: Body, key: str) -> None:
        """Let nothing more be committed, because observations contradict a run.

        Args:
            identifier: id of the ledger.
            body: `observations`, and `reservations` that paid for the run.
            key: idempotency key of the request.
        """

    def report(self, identifier: str) -> str:
        """It as a page of HTML, signed."""

    def checkpoint(self) -> str:
        """The signed head of the log."""

    def reconcile(self, checkpoint: str | None, declared: str | None) -> Answer:
        """The log is compared with a checkpoint, and its head accepted as `checkpoint`.

        Where it was no continuation and that was declared to be accounted for, `accepted` says why it was none.
        """

    def keys(self) -> Answer:
        """The published keys."""

    def bundle(self, identifier: str | None) -> Bundle:
        """What shows the log: all of it, or what is a ledger's, as far as the place may show it."""

    def close(self) -> None:
        """Let go of what is held."""
