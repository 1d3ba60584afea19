"""Answers on the log, computed in a thread."""

from __future__ import annotations

from collections.abc import Mapping

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.http.answers import page_link
from epsilond.app.http.problems import Problem
from epsilond.calibrators.answer import Caution, as_json
from epsilond.ledgers.book.pending import waiting_ledgers
from epsilond.ledgers.http.documents import CheckpointAnswer, EntryList
from epsilond.ledgers.http.service import Ledgers
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.encodings import to_base64


def head(ledgers: Ledgers) -> CheckpointAnswer:
    """Return the signed head of the log, that is, its size and Merkle root.

    Args:
        ledgers: ledgers of the service.

    Returns:
        The answer of the service. Its `checkpoint` has the signatures of the service and of available witnesses.
    """
    return _answer(ledgers, ledgers.heads.checkpoint())


def inclusion(ledgers: Ledgers, tenant: str, entry: int) -> JsonRecord:
    """Return the receipt of a log entry: the entry, the proof that the log contains it, and the log's signed head.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the entry.
        entry: number of the entry in the log.

    Returns:
        The receipt as a JSON object, with the warnings of the service if there are any.
    """
    return add_warnings(ledgers, ledgers.book.inclusion(tenant, entry).record)


def consistency(ledgers: Ledgers, first: int, second: int | None) -> dict[str, object]:
    """Return the proof that the log grew from one size to another only by new entries at its end.

    Args:
        ledgers: ledgers of the service.
        first: number of entries of the earlier log.
        second: number of entries of the later log; None means the present log.

    Returns:
        The proof as a JSON object, with the warnings of the service if there are any.
    """
    return add_warnings(ledgers, ledgers.book.consistency(first, second).record)


def log_entries(ledgers: Ledgers, tenant: str, start: int, limit: int) -> EntryList:
    """Return a page of the log entries of all ledgers of an organisation.

    Args:
        ledgers: ledgers of the service.
        tenant: name of the organisation.
        start: smallest number of an entry of the page.
        limit: largest number of entries of the page.

    Returns:
        The entries, and the path of the next page if there are more.
    """
    records = ledgers.book.log_entries(tenant, start=start, limit=limit + 1)
    next_link = None
    if len(records) > limit:
        first_of_next_page = records[limit]
        next_link = page_link("/v1/log/entries", {"from": first_of_next_page["seq"], "limit": limit})
    return EntryList(entries=tuple(records[:limit]), next=next_link, warnings=ledgers.warnings or None)


def add_warnings(ledgers: Ledgers, record: Mapping[str, object]) -> JsonRecord:
    """Return a copy of a JSON object, with the service's warnings about ledgers as `warnings` if there are any.

    Args:
        ledgers: ledgers of the service.
        record: JSON object of an answer.
    """
    if not ledgers.warnings:
        return dict(record)
    return {**record, "warnings": as_json(ledgers.warnings)}


def keys(ledgers: Ledgers) -> JsonRecord:
    """Return the public keys of the service, as a JSON Web Key Set."""
    return ledgers.keyring.document()


def accept_log(ledgers: Ledgers, by: str) -> tuple[CheckpointAnswer, int]:
    """Accept a log that may have lost entries, on behalf of an operator.

    Args:
        ledgers: ledgers of the service.
        by: name of the operator, which is shown to the second person of each ledger that needs approvals.

    Returns:
        The answer of the service with the log's signed head, and the number of ledgers that wait for a second person.

    Raises:
        Problem: the head cannot be stored outside the database.
    """
    try:
        note, waiting = ledgers.accept(by)
    except OSError:
        detail = "The checkpoint cannot be kept elsewhere."
        raise Problem("unavailable", detail, headers={"Retry-After": "10"}) from None
    warnings = (waiting_ledgers(waiting),) if waiting else ()
    return _answer(ledgers, note, warnings), waiting


def _answer(ledgers: Ledgers, note: str, warnings: tuple[Caution, ...] = ()) -> CheckpointAnswer:
    """Build the service's answer with a signed head of the log, that is, its size and Merkle root at this time.

    Args:
        ledgers: ledgers of the service.
        note: signed note with the head.
        warnings: warnings that come before the warnings of the service.

    Returns:
        The answer: the contents of the head, with the Merkle root in base 64, the note itself, and the warnings.
    """
    keyring = ledgers.book.keyring
    checkpoint = checkpoints.verify(note, keyring.signing.name, keyring.keys)
    return CheckpointAnswer(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=to_base64(checkpoint.root),
        checkpoint=note,
        warnings=(*warnings, *ledgers.warnings) or None,
    )
