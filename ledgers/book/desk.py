"""Steps of every request of a book in its transaction: rows are read as states, entries written, receipts made."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import Connection

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.book.continuity import Continuity, roots
from epsilond.ledgers.book.contradictions import contradictions_of, is_contradicted
from epsilond.ledgers.book.errors import KeyReused, NotFound, NotReconciled
from epsilond.ledgers.book.states import state_from
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.receipts import Receipt, make, make_all
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.mathematics.balance import BALANCE, digest_of
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import entries, keys, ledgers, reservations
from epsilond.ledgers.store.balances import Balances
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import EntryRow, KeptAnswer, LedgerRow, ReservationRow
from epsilond.ledgers.store.specs import text_of
from epsilond.ledgers.store.transactions import Unknown

MOST_COMMITS = 1_000_000
"""Largest number of commits of a ledger that are searched for those of one reservation."""
WRITTEN = "epsilond.head"
"""Name of the head that a transaction has written, in `Connection.info`."""
States = dict[str, tuple[LedgerRow, LedgerState]]


class MovedLedger(NamedTuple):
    """Change of one ledger by a move: a reservation, a commit or another change, which may concern several ledgers.

    Attributes:
        ledger: id of the ledger.
        record: record of the move for the log.
        after: the ledger after the move, with at least the reservations that have uncommitted runs.
    """

    ledger: str
    record: JsonObject
    after: LedgerState


@dataclass(frozen=True)
class LoggedMove:
    """A change of ledgers, such as a commit, with its log entries and the answer to the request for it.

    Attributes:
        key: idempotency key and sender of the request.
        answer: answer to store for the key; None means the receipts of the entries.
        records: the change of each ledger.
    """

    key: RequestKey
    answer: JsonRecord | None
    records: tuple[MovedLedger, ...]


class Desk:
    """Reader and writer of the ledgers' rows and log entries, with signatures and with checks of the rows."""

    def __init__(self, keyring: Callable[[], SigningKeys], clock: Callable[[], float], continuity: Continuity) -> None:
        self._keyring = keyring
        self._clock = clock
        self._continuity = continuity
        self.balances = Balances()

    def write(
        self, connection: Connection, key: RequestKey, answer: JsonRecord | None, records: Sequence[MovedLedger]
    ) -> JsonRecord:
        """Write one change of ledgers (move) to the log, and return the answer to its request.

        Args:
            connection: connection of the transaction of the move.
            key: idempotency key and sender of the request.
            answer: answer to store for the key; None means the receipts of the entries.
            records: changes of the move, one for each ledger.

        Raises:
            NotReconciled: the log lacks entries that it had before; nothing may be committed.
        """
        return self.write_all(connection, [LoggedMove(key, answer, tuple(records))])[0]

    def write_all(self, connection: Connection, moves: Sequence[LoggedMove]) -> list[JsonRecord]:
        """Append the entries of moves (changes of ledgers) to the log, and store the answer to each.

        The new head is put into `connection.info[WRITTEN]`, for the caller to note once the transaction has succeeded.

        Args:
            connection: connection of the transaction of the moves.
            moves: moves in the order of their entries.

        Returns:
            The answer to each move: its own answer, or the receipts of its entries under the new signed head.

        Raises:
            NotReconciled: the log lacks entries that it had before; nothing may be committed.
        """
        first = entries.take(connection, sum(len(move.records) for move in moves))
        now = self._clock()
        nodes, signing_key = StoredNodes(connection), self._keyring().signing
        self._continuity.require(self._continuity.known_heads(), roots(nodes, first))
        rows_by_move = _entry_rows(moves, first, now)
        rows = [row for move_rows in rows_by_move for row in move_rows]
        entries.append(connection, rows)
        tree = Tree(nodes, first).extend([row.leaf for row in rows])
        connection.info[WRITTEN] = checkpoints.of_tree(tree, signing_key.name)
        answers = _answers(moves, rows_by_move, tree, signing_key)
        answer_rows = [
            _answer_row(move.key, answer, now)
            for move, answer in zip(moves, answers, strict=True)
            if move.key.value is not None
        ]
        if answer_rows:
            keys.keep(connection, answer_rows)
        return answers

    def keep(self, connection: Connection, key: RequestKey, answer: JsonObject) -> None:
        """Store the answer to a request with an idempotency key.

        Args:
            connection: connection of the transaction of the move.
            key: idempotency key and sender of the request.
            answer: answer to store.

        Raises:
            Again: another request with the key was answered meanwhile.
        """
        keys.keep(connection, [_answer_row(key, answer, self._clock())])

    def receipt(self, connection: Connection, row: EntryRow, size: int) -> Receipt:
        """Return the receipt of a log entry: the proof that the log of `size` entries contains it.

        Args:
            connection: connection to read on.
            row: row of the entry.
            size: number of entries of the log.
        """
        tree = Tree(StoredNodes(connection), size)
        signing = self._keyring().signing
        head = checkpoints.sign(checkpoints.of_tree(tree, signing.name), signing)
        return make(tree, row.seq, entry(row), head, signing)

    def head(self, connection: Connection, size: int) -> str:
        """Return the signed head of the log of `size` entries."""
        return checkpoints.sign(self.unsigned_head(connection, size), self._keyring().signing)

    def unsigned_head(self, connection: Connection, size: int) -> Checkpoint:
        """Return the head of the log of `size` entries."""
        return checkpoints.of_tree(Tree(StoredNodes(connection), size), self._keyring().signing.name)

    def present_head(self, connection: Connection) -> Checkpoint:
        """Return the unsigned head of the log at its present size."""
        return self.unsigned_head(connection, entries.size(connection))

    def find_answer(self, connection: Connection, key: RequestKey) -> JsonRecord | None:
        """Return the stored answer if this caller has sent the same request with this key before; otherwise None.

        Raises:
            KeyReused: the key came with another request.
        """
        if key.value is None:
            return None
        stored = keys.find(connection, key.owner, key.value) or keys.find(connection, key.earlier_owner, key.value)
        if stored is None:
            return None
        if stored.fingerprint != key.fingerprint:
            raise KeyReused(key.value)
        answer: JsonRecord = json.loads(stored.answer)
        return answer

    def states(
        self,
        connection: Connection,
        tenant: str | None,
        identifiers: Sequence[str],
        with_voids_of: ReservationRow | None = None,
        *,
        including: Sequence[str] = (),
    ) -> States:
        """Load ledgers from the database, and return the rows and the state of each by its id.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifiers: ids of the ledgers.
            with_voids_of: a reservation to include with its number of voided runs, which is read from the log.
            including: ids of more reservations to include. Those with uncommitted runs are always included.

        Raises:
            NotFound: this tenant has no such ledger.
            NotReconciled: the rows of a ledger differ from its newest log entry.
        """
        states: States = {}
        for name in sorted(identifiers):
            row = self.row(connection, tenant, name)
            held = {
                reservation.id: reservation for reservation in reservations.of_ledgers(connection, [name], including)
            }
            if with_voids_of is not None:
                held[with_voids_of.id] = with_voids_of
            own_reservations = [reservation for reservation in held.values() if name in reservation.ledgers]
            states[name] = row, _state_of_rows(row, own_reservations)
        self._require_balanced(connection, states)
        if with_voids_of is None:
            return states
        return {
            name: (row, _with_voids(connection, state, name, with_voids_of.id)) for name, (row, state) in states.items()
        }

    def _require_balanced(self, connection: Connection, states: States) -> None:
        """Check that the database rows of ledgers agree with their newest log entries, which contain digests of them.

        Raises:
            NotReconciled: the rows of a ledger differ from its newest entry. The error names the first such ledger.
        """
        wrong = self.balances.wrong(connection, states)
        if wrong:
            name, trouble = next(iter(wrong.items()))
            raise NotReconciled(trouble, name)

    def load_held(self, connection: Connection, tenant: str | None, identifier: str) -> tuple[ReservationRow, States]:
        """Load a reservation together with the ledgers in which it holds runs or amounts.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifier: id of the reservation.

        Raises:
            NotFound: this tenant has no such reservation.
            NotReconciled: the rows of a ledger differ from its newest log entry.
        """
        reservation = self.load_reservation(connection, tenant, identifier)
        return reservation, self.states(connection, tenant, reservation.ledgers, reservation)

    def was_voided(self, connection: Connection, held: ReservationRow) -> bool:
        """Return whether runs of a reservation were voided. No run may begin with its receipts then."""
        return any(_count_voided(connection, name, held.id) for name in held.ledgers)

    def contradicting_ledgers(self, connection: Connection, held: ReservationRow) -> list[str]:
        """Return the ids of a reservation's ledgers that record that its run differed from its mechanism."""
        rows = ledgers.load(connection, *held.ledgers)
        return [
            holding.ledger
            for holding in held.holdings
            if is_contradicted(held.id, holding.committed, contradictions_of(rows[holding.ledger]))
        ]

    def load_reservation(self, connection: Connection, tenant: str | None, identifier: str) -> ReservationRow:
        """Return a reservation in ledgers of this tenant.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifier: id of the reservation.

        Raises:
            NotFound: there is no such reservation, or it has a ledger of another tenant.
        """
        held = reservations.get(connection, identifier, tenant=tenant)
        if held is None:
            raise NotFound(identifier)
        return held

    def commits(self, connection: Connection, held: ReservationRow) -> list[EntryRow]:
        """Return the log entries of a reservation's commits, in the order of the log."""
        rows: list[EntryRow] = []
        for holding in held.holdings:
            committed = entries.page(connection, limit=MOST_COMMITS, ledger=holding.ledger, kind="committed")
            rows += [row for row in committed if entry(row)["reservation"] == held.id]
        return sorted(rows, key=lambda row: row.seq)

    def row(self, connection: Connection, tenant: str | None, identifier: str) -> LedgerRow:
        """Return a ledger of this tenant.

        Args:
            connection: connection to read on.
            tenant: owner of the ledger; None means any.
            identifier: id of the ledger.

        Raises:
            NotFound: there is no such ledger, or it is another tenant's.
        """
        try:
            return ledgers.load(connection, identifier, tenant=tenant)[identifier]
        except Unknown:
            raise NotFound(identifier) from None


def _state_of_rows(row: LedgerRow, held: Sequence[ReservationRow]) -> LedgerState:
    """Convert the database rows of a ledger and its reservations to the ledger's state.

    Raises:
        NotReconciled: the rows are not valid, so that they were changed outside the service.
    """
    try:
        return state_from(row, held)
    except (EpsilondError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        raise NotReconciled(f"The rows of the ledger {row.id} describe no ledger.", row.id) from None


def _entry_rows(moves: Sequence[LoggedMove], first: int, now: float) -> list[list[EntryRow]]:
    """Return the rows of the log entries of each move, numbered from `first` on."""
    rows_by_move = []
    number = first
    for move in moves:
        rows = [_entry_row(number + index, now, move, moved) for index, moved in enumerate(move.records)]
        rows_by_move.append(rows)
        number += len(rows)
    return rows_by_move


def _entry_row(seq: int, now: float, move: LoggedMove, moved: MovedLedger) -> EntryRow:
    """Return the row of a log entry with a given number, for one of the ledgers that a move changes."""
    tenant = move.key.tenant
    shared: JsonRecord = {"at": time_of(now), "tenant": tenant}
    if move.key.by:
        shared["requested_by"] = move.key.by
    balance = {BALANCE: digest_of(moved.after, text_of)}
    leaf = canonical({"seq": seq, "ledger": moved.ledger, **shared, **moved.record, **balance})
    return EntryRow(seq=seq, at=now, tenant=tenant, kind=moved.record["kind"], ledger=moved.ledger, leaf=leaf)


def _answers(
    moves: Sequence[LoggedMove], rows_by_move: Sequence[Sequence[EntryRow]], tree: Tree, signing_key: SigningKey
) -> list[JsonRecord]:
    """Return the answer to each move (a change of ledgers, such as a commit), in the order of the moves.

    If a move has an answer of its own, that is returned. Otherwise the answer is the receipts of its log entries:
    proofs that the log contains them.

    Args:
        moves: the moves, whose entries are in the log.
        rows_by_move: rows of the log entries of each move.
        tree: Merkle tree of the log with the new entries.
        signing_key: key that signs the head and the receipts.
    """
    checkpoint = checkpoints.sign(checkpoints.of_tree(tree, signing_key.name), signing_key)
    unanswered = [row for move, rows in zip(moves, rows_by_move, strict=True) if move.answer is None for row in rows]
    # One call for all moves verifies the checkpoint only once.
    receipts = make_all(tree, [(row.seq, entry(row)) for row in unanswered], checkpoint, signing_key)
    receipt_of = {row.seq: receipt.record for row, receipt in zip(unanswered, receipts, strict=True)}
    answers: list[JsonRecord] = []
    for move, rows in zip(moves, rows_by_move, strict=True):
        answers.append({"receipts": [receipt_of[row.seq] for row in rows]} if move.answer is None else move.answer)
    return answers


def _answer_row(key: RequestKey, answer: JsonObject, now: float) -> KeptAnswer:
    """Return the row of a stored answer. The request must have an idempotency key."""
    assert key.value is not None  # required of the caller
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
    return KeptAnswer(tenant=key.owner, key=key.value, fingerprint=key.fingerprint, answer=text, at=now)


def _with_voids(connection: Connection, state: LedgerState, ledger: str, reservation: str) -> LedgerState:
    """Return the state with the number of voided runs of a reservation, read from the log.

    The reservation's row keeps only the number of committed runs.
    """
    held = state.reservations.get(reservation)
    if held is None or not held.committed:
        return state
    return state.with_reservation(replace(held, voided=_count_voided(connection, ledger, reservation)))


def _count_voided(connection: Connection, ledger: str, reservation: str) -> int:
    """Return how many runs of a reservation were voided (taken back) in a ledger."""
    records = (entry(row) for row in entries.of_rare_kind(connection, [ledger], "voided"))
    return sum(record["count"] for record in records if record["reservation"] == reservation)


def canonical_text(record: JsonObject) -> str:
    """Return a record as JSON text in canonical form, which is the same for equal records."""
    return canonical(record).decode()


def entry(row: EntryRow) -> JsonRecord:
    """Return the JSON record of a log entry, from its stored text."""
    record: JsonRecord = json.loads(row.leaf)
    return record


def time_of(seconds: float) -> str:
    """Return a time in seconds since 1970 as RFC 3339 text, in UTC and truncated to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
