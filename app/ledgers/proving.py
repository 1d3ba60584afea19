"""What is shown of the log, in a thread."""

from __future__ import annotations

from typing import Any

from epsilond.app.http.problems import Problem
from epsilond.app.ledgers.documents import CheckpointAnswer
from epsilond.app.ledgers.service import Ledgers
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.encodings import to_base64


def head(ledgers: Ledgers) -> CheckpointAnswer:
    """The log's signed head."""
    return _answer(ledgers, ledgers.book.checkpoint())


def inclusion(ledgers: Ledgers, tenant: str, entry: int) -> dict[str, Any]:
    """The receipt of an entry under the head of now."""
    return ledgers.book.inclusion(tenant, entry).record


def consistency(ledgers: Ledgers, first: int, second: int | None) -> dict[str, object]:
    """That one log is the beginning of another."""
    return ledgers.book.consistency(first, second).record


def keys(ledgers: Ledgers) -> dict[str, Any]:
    """The keys that are published."""
    return ledgers.book.keyring.document()


def accepted(ledgers: Ledgers) -> CheckpointAnswer:
    """The log as it is is right.

    Raises:
        Problem: that cannot be written down elsewhere.
    """
    try:
        return _answer(ledgers, ledgers.accept())
    except OSError:
        detail = "The checkpoint cannot be kept elsewhere."
        raise Problem("unavailable", detail, headers={"Retry-After": "10"}) from None


def _answer(ledgers: Ledgers, note: str) -> CheckpointAnswer:
    keyring = ledgers.book.keyring
    told = checkpoints.verify(note, keyring.signing.name, keyring.keys)
    return CheckpointAnswer(origin=told.origin, size=told.size, root=to_base64(told.root), checkpoint=note)
