"""Log entries of changes of ledgers, and the answers to the requests for them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.receipts import make_all
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.mathematics.balance import BALANCE, digest_of
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import EntryRow, KeptAnswer
from epsilond.ledgers.store.specs import text_of


class MovedLedger(NamedTuple):
    """The part of a move that concerns one ledger. A move is a change of one or several ledgers, such as a commit.

    Attributes:
        ledger: id of the ledger.
        record: record of the change for the log.
        after: state of the ledger after the move, with at least the reservations that have uncommitted runs.
    """

    ledger: str
    record: JsonObject
    after: LedgerState


@dataclass(frozen=True)
class LoggedMove:
    """A change of one or several ledgers, such as a commit, with its entries in the log and the answer to its request.

    Attributes:
        key: idempotency key and sender of the request.
        answer: answer to store for the key; None for the receipts, that is, proofs that the entries are in the log.
        records: for each ledger that changes, its log entry and its state after the change.
    """

    key: RequestKey
    answer: JsonRecord | None
    records: tuple[MovedLedger, ...]


def entry_rows(moves: Sequence[LoggedMove], first: int, now: float) -> list[list[EntryRow]]:
    """Return the database rows of the log entries of several moves, numbered without gaps.

    A move is a change of ledgers, such as a commit. It has one entry for each ledger that it changes.

    Args:
        moves: the moves in the order of their entries.
        first: number of the first entry in the log.
        now: time of the entries, in seconds since 1970.

    Returns:
        One list of rows for each move, in the order of the moves.
    """
    rows_by_move = []
    number = first
    for move in moves:
        rows = [_entry_row(number + index, now, move, moved) for index, moved in enumerate(move.records)]
        rows_by_move.append(rows)
        number += len(rows)
    return rows_by_move


def _entry_row(seq: int, now: float, move: LoggedMove, moved: MovedLedger) -> EntryRow:
    """Return the database row of a log entry, which records the change of one ledger.

    The row has the entry's canonical JSON text, which becomes a leaf of the log's Merkle tree. The text contains a
    digest of the ledger's balance after the change.

    Args:
        seq: number of the entry in the log.
        now: time of the entry, in seconds since 1970.
        move: the move, a change of one or several ledgers, that this change belongs to. Its key has the owner of the
            ledger and the name of the caller.
        moved: the changed ledger, with the record of the change.

    Returns:
        The row, which is not written yet.
    """
    tenant = move.key.tenant
    record: JsonRecord = {"seq": seq, "ledger": moved.ledger, "at": time_of(now), "tenant": tenant}
    if move.key.by:
        record["requested_by"] = move.key.by
    record |= moved.record  # may name another requester, who then replaces the caller
    record[BALANCE] = digest_of(moved.after, text_of)
    leaf = canonical(record)
    return EntryRow(seq=seq, at=now, tenant=tenant, kind=moved.record["kind"], ledger=moved.ledger, leaf=leaf)


def answers_of(
    moves: Sequence[LoggedMove], rows_by_move: Sequence[Sequence[EntryRow]], tree: Tree, signing_key: SigningKey
) -> list[JsonRecord]:
    """Return the answer to the request for each move, that is, a change of ledgers such as a commit.

    A move may have an answer of its own. Otherwise the answer is the receipts of its log entries: signed proofs that
    the log contains them.

    Args:
        moves: the moves. Their entries are in the log.
        rows_by_move: rows of the log entries of each move.
        tree: Merkle tree of the log with the new entries.
        signing_key: key that signs the head and the receipts.

    Returns:
        One answer for each move, in their order.
    """
    # Make all receipts in one call, which verifies the signed head of the log only once.
    rows_with_receipt: list[EntryRow] = []
    for move, rows in zip(moves, rows_by_move, strict=True):
        if move.answer is None:
            rows_with_receipt += rows
    checkpoint = checkpoints.sign(checkpoints.of_tree(tree, signing_key.name), signing_key)
    receipts = make_all(tree, [(row.seq, entry(row)) for row in rows_with_receipt], checkpoint, signing_key)
    receipt_of = {row.seq: receipt.record for row, receipt in zip(rows_with_receipt, receipts, strict=True)}

    # Give each move its own answer, or the receipts of its entries.
    answers: list[JsonRecord] = []
    for move, rows in zip(moves, rows_by_move, strict=True):
        if move.answer is not None:
            answers.append(move.answer)
        else:
            answers.append({"receipts": [receipt_of[row.seq] for row in rows]})
    return answers


def answer_row(key: RequestKey, answer: JsonObject, now: float) -> KeptAnswer:
    """Return the database row that stores the answer to a request, for repetitions of the request.

    Args:
        key: idempotency key and sender of the request. Its `value` must not be None.
        answer: the answer, a JSON object.
        now: present time in seconds since 1970.

    Returns:
        The row, which is not written yet.
    """
    assert key.value is not None
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    return KeptAnswer(tenant=key.owner, key=key.value, fingerprint=key.fingerprint, answer=text, at=now)


def canonical_text(record: JsonObject) -> str:
    """Return a record as JSON text in canonical form (RFC 8785), which is the same for equal records.

    Args:
        record: JSON object without floating-point numbers.

    Returns:
        The text, with sorted members and without white space.
    """
    return canonical(record).decode()


def entry(row: EntryRow) -> JsonRecord:
    """Return the JSON record of a log entry, from its stored text.

    Args:
        row: database row of the entry.

    Returns:
        The record as a new dictionary.
    """
    record: JsonRecord = json.loads(row.leaf)
    return record


def time_of(seconds: float) -> str:
    """Return a time as RFC 3339 text, in UTC and truncated to the second.

    Args:
        seconds: time in seconds since 1970.

    Returns:
        For example `2026-01-31T08:30:00Z`.
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
