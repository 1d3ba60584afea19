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
    """Return the log's signed head, its size and Merkle root, with the cosignatures of its witnesses.

    Args:
        ledgers: ledgers of the service.

    Returns:
        The head.
    """
    return _answer(ledgers, ledgers.heads.checkpoint())


def inclusion(ledgers: Ledgers, tenant: str, entry: int) -> JsonRecord:
    """Return the receipt of a log entry: the proof that the log contains it, with the log's signed head.

    Args:
        ledgers: ledgers of the service.
        tenant: owner of the entry.
        entry: number of the entry in the log.

    Returns:
        The receipt as a JSON object.
    """
    return add_warnings(ledgers, ledgers.book.inclusion(tenant, entry).record)


def consistency(ledgers: Ledgers, first: int, second: int | None) -> dict[str, object]:
    """Return the proof that the log was only appended to between two of its sizes, with warnings.

    Args:
        ledgers: ledgers of the service.
        first: number of entries of the earlier log.
        second: number of entries of the later log; None means the present log.

    Returns:
        The proof as a JSON object.
    """
    return add_warnings(ledgers, ledgers.book.consistency(first, second).record)


def log_entries(ledgers: Ledgers, tenant: str, start: int, limit: int) -> EntryList:
    """Return a page of the entries of all ledgers of an organisation.

    An auditor reads all entries in pages. One more entry than requested is read, to know whether another page follows.

    Args:
        ledgers: ledgers of the service.
        tenant: name of the organisation.
        start: number in the log from which on they are listed.
        limit: largest number of entries.

    Returns:
        The page, with the path of the next one if there is one.
    """
    records = ledgers.book.log_entries(tenant, start=start, limit=limit + 1)
    shown = records[:limit]
    further = records[limit:]
    next_link = None
    for next_record in further:  # at most one
        next_link = page_link("/v1/log/entries", {"from": next_record["seq"], "limit": limit})
    return EntryList(entries=tuple(shown), next=next_link, warnings=ledgers.warnings or None)


def add_warnings(ledgers: Ledgers, record: Mapping[str, object]) -> JsonRecord:
    """Return a copy of a record, with the service's warnings about ledgers if it has any.

    Args:
        ledgers: ledgers of the service.
        record: JSON object of an answer.

    Returns:
        The copy, with a member `warnings` if the service has warnings.
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
        by: name of the operator, for the pending moves of ledgers with approval.

    Returns:
        The signed head, and the number of ledgers that wait for their approvers.

    Raises:
        Problem: the checkpoint cannot be kept elsewhere.
    """
    try:
        note, waiting = ledgers.accept(by)
    except OSError:
        detail = "The checkpoint cannot be kept elsewhere."
        raise Problem("unavailable", detail, headers={"Retry-After": "10"}) from None
    warnings = (waiting_ledgers(waiting),) if waiting else ()
    return _answer(ledgers, note, warnings), waiting


def _answer(ledgers: Ledgers, note: str, warnings: tuple[Caution, ...] = ()) -> CheckpointAnswer:
    """Return the service's answer with a signed head of the log.

    The head is the log's size and Merkle root at this time. A reader keeps it to check later that the log only grew.

    Args:
        ledgers: ledgers of the service.
        note: signed note of the head.
        warnings: warnings that come before the warnings of the service.

    Returns:
        The answer, with the Merkle root in base 64.
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
