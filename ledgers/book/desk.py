"""Steps of every request of a book in its transaction: rows are read as states, entries written, receipts made."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.book.continuity import Continuity, roots
from epsilond.ledgers.book.contradictions import contradictions_of, is_contradicted
from epsilond.ledgers.book.errors import KeyReused, NotFound, NotReconciled
from epsilond.ledgers.book.logged.entries import LoggedMove, MovedLedger, answer_row, answers_of, entry, entry_rows
from epsilond.ledgers.book.states import state_from
from epsilond.ledgers.log import checkpoints
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.receipts import Receipt, make
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.log.tree import Tree
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import entries, keys, ledgers, reservations
from epsilond.ledgers.store.balances import Balances
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import EntryRow, LedgerRow, ReservationRow
from epsilond.ledgers.store.transactions import Again, Unknown

MOST_COMMITS = 1_000_000  # of a ledger, that are searched for those of one reservation
WRITTEN = "epsilond.head"  # name of the head that a transaction has written, in `Connection.info`
States = dict[str, tuple[LedgerRow, LedgerState]]


class Desk:
    """Reader and writer of ledgers (privacy budgets) in a database, and of the log of their changes.

    The present amounts of a ledger are database rows, and each change is an entry of an append-only log. Every method
    takes the connection of a transaction, so that rows and entries are read at one moment.

    Attributes:
        balances: checker that compares the rows with the digests in the newest log entries.
    """

    def __init__(self, keyring: Callable[[], SigningKeys], clock: Callable[[], float], continuity: Continuity) -> None:
        """Make a reader and writer for the log with given keys and earlier heads.

        Args:
            keyring: function that returns the present signing keys of the log.
            clock: function that returns the present time in seconds since 1970.
            continuity: earlier heads (size and Merkle root) of the log, which it must continue.
        """
        self._keyring = keyring
        self._clock = clock
        self._continuity = continuity
        self.balances = Balances()

    def write(
        self, connection: Connection, key: RequestKey, answer: JsonRecord | None, records: Sequence[MovedLedger]
    ) -> JsonRecord:
        """Append the entries of one change of ledgers to the log, and return the answer to its request.

        Args:
            connection: connection of the transaction of the change.
            key: idempotency key and sender of the request.
            answer: answer to store for the key; None means the receipts of the entries.
            records: the change in each ledger, which becomes one entry.

        Returns:
            The answer to the request: `answer`, or the receipts of the new entries.

        Raises:
            NotReconciled, Again: as `write_all`.
        """
        return self.write_all(connection, [LoggedMove(key, answer, tuple(records))])[0]

    def write_all(self, connection: Connection, moves: Sequence[LoggedMove]) -> list[JsonRecord]:
        """Append the entries of moves (changes of ledgers) to the log, and store the answer to each.

        The log is a Merkle tree. Its head consists of its size and root. The new head is put into
        `connection.info[WRITTEN]`. The caller may use it once the transaction has succeeded.

        Args:
            connection: connection of the transaction of the moves.
            moves: moves in the order of their entries.

        Returns:
            The answer to each move: its own answer, or receipts, that is, proofs that its entries are in the log.

        Raises:
            NotReconciled: the log lacks entries that it had before. The transaction must be rolled back.
            Again: another transaction answered a request with one of the keys. The caller must try again.
        """
        entry_count = sum(len(move.records) for move in moves)
        first = entries.take(connection, entry_count)
        now = self._clock()
        nodes = StoredNodes(connection)
        signing_key = self._keyring().signing
        # The log must contain each head that is known from before.
        self._continuity.require(self._continuity.known_heads(), roots(nodes, first))
        rows_by_move = entry_rows(moves, first, now)
        rows = list(itertools.chain.from_iterable(rows_by_move))
        entries.append(connection, rows)
        tree = Tree(nodes, first).extend([row.leaf for row in rows])
        connection.info[WRITTEN] = checkpoints.of_tree(tree, signing_key.name)

        answers = answers_of(moves, rows_by_move, tree, signing_key)
        answer_rows = []
        for move, answer in zip(moves, answers, strict=True):
            if move.key.value is not None:
                answer_rows.append(answer_row(move.key, answer, now))
        if answer_rows:
            keys.keep(connection, answer_rows)
        return answers

    def keep(self, connection: Connection, key: RequestKey, answer: JsonObject) -> None:
        """Store the answer to a request, by its idempotency key.

        Args:
            connection: connection of the transaction of the change.
            key: idempotency key and sender of the request.
            answer: answer to store.

        Raises:
            Again: another transaction stored an answer for the key. The caller must try again.
        """
        keys.keep(connection, [answer_row(key, answer, self._clock())])

    def receipt(self, connection: Connection, row: EntryRow, size: int) -> Receipt:
        """Make the receipt of a log entry: the entry, the proof that the log contains it, and the log's signed head.

        Args:
            connection: connection to read on.
            row: row of the entry.
            size: number of entries of the log for which the proof and the head (size and Merkle root) are made.
        """
        tree = Tree(StoredNodes(connection), size)
        signing = self._keyring().signing
        head = checkpoints.sign(checkpoints.of_tree(tree, signing.name), signing)
        return make(tree, row.seq, entry(row), head, signing)

    def head(self, connection: Connection, size: int) -> str:
        """Return the signed head of the log at a size: the number of its first entries, and their Merkle root.

        Args:
            connection: connection to read on.
            size: number of entries.

        Returns:
            Text of a signed note.
        """
        return checkpoints.sign(self.unsigned_head(connection, size), self._keyring().signing)

    def unsigned_head(self, connection: Connection, size: int) -> Checkpoint:
        """Return the unsigned head of the log at a size: the number of its first entries, and their Merkle root."""
        log_name = self._keyring().signing.name
        return checkpoints.of_tree(Tree(StoredNodes(connection), size), log_name)

    def present_head(self, connection: Connection) -> Checkpoint:
        """Return the unsigned head of the log at its present size."""
        return self.unsigned_head(connection, entries.size(connection))

    def find_answer(self, connection: Connection, key: RequestKey) -> JsonRecord | None:
        """Find the stored answer to an earlier, equal request of the same caller with the same idempotency key.

        Args:
            connection: connection to read on.
            key: idempotency key, sender and fingerprint of the request.

        Returns:
            The answer. None if the request has no key, or if its key is new.

        Raises:
            KeyReused: the key came with a different request before.
        """
        if key.value is None:
            return None
        stored = keys.find(connection, key.owner, key.value)
        if stored is None:  # an earlier version may have stored it under another owner
            stored = keys.find(connection, key.earlier_owner, key.value)
        if stored is None:
            return None
        if stored.fingerprint != key.fingerprint:
            raise KeyReused(key.value)
        answer: JsonRecord = json.loads(stored.answer)
        return answer

    def require_unanswered(self, connection: Connection, key: RequestKey) -> None:
        """Check in the transaction of a request that no other thread or process has answered the same request.

        Args:
            connection: connection of the transaction of the request.
            key: idempotency key and sender of the request.

        Raises:
            Again: the request was answered. The caller must try again, and then finds the answer.
            KeyReused: the key came with a different request.
        """
        if self.find_answer(connection, key) is not None:
            raise Again(key.value)

    def states(
        self,
        connection: Connection,
        tenant: str | None,
        identifiers: Sequence[str],
        with_voids_of: ReservationRow | None = None,
        *,
        including: Sequence[str] = (),
    ) -> States:
        """Load ledgers from the database with their reservations, and check them against the log.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifiers: ids of the ledgers.
            with_voids_of: a reservation to include, with the number of its voided runs. These are committed runs that
                were taken back; only the log has their number.
            including: ids of more reservations to include. Reservations with uncommitted runs are always included.

        Returns:
            The rows of each ledger and the state that they describe, by its id.

        Raises:
            NotFound: this tenant has no such ledger.
            NotReconciled: the rows of a ledger differ from its newest log entry.
        """
        states: States = {}
        for name in sorted(identifiers):
            row = self.row(connection, tenant, name)
            loaded = reservations.of_ledgers(connection, [name], including)
            held = {reservation.id: reservation for reservation in loaded}
            if with_voids_of is not None:
                held[with_voids_of.id] = with_voids_of
            own_reservations = [reservation for reservation in held.values() if name in reservation.ledgers]
            states[name] = row, _build_state(row, own_reservations)
        self._require_balanced(connection, states)
        if with_voids_of is None:
            return states
        for name, (row, state) in states.items():
            states[name] = row, _add_voided_runs(connection, state, name, with_voids_of.id)
        return states

    def _require_balanced(self, connection: Connection, states: States) -> None:
        """Require that the rows of ledgers agree with the digests in their newest log entries.

        Args:
            connection: connection to read on.
            states: rows and state of each ledger, by its id.

        Raises:
            NotReconciled: the rows of a ledger differ. The error names the first such ledger.
        """
        wrong = self.balances.wrong(connection, states)
        if wrong:
            name, trouble = next(iter(wrong.items()))
            raise NotReconciled(trouble, name)

    def load_held(self, connection: Connection, tenant: str | None, identifier: str) -> tuple[ReservationRow, States]:
        """Load a reservation, and the ledgers in which it reserves runs or amounts.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifier: id of the reservation.

        Returns:
            The reservation, and the rows and state of each ledger by its id.

        Raises:
            NotFound: this tenant has no such reservation.
            NotReconciled: the rows of a ledger differ from its newest log entry.
        """
        reservation = self.load_reservation(connection, tenant, identifier)
        return reservation, self.states(connection, tenant, reservation.ledgers, reservation)

    def was_voided(self, connection: Connection, held: ReservationRow) -> bool:
        """Return whether any committed runs of a reservation were voided: taken back because no output was seen.

        No run may begin with the receipts of such a reservation.

        Args:
            connection: connection to read on.
            held: the reservation.
        """
        return any(_count_voided(connection, name, held.id) for name in held.ledgers)

    def contradicting_ledgers(self, connection: Connection, held: ReservationRow) -> list[str]:
        """Find the ledgers of a reservation that have an observation that its runs differ from their mechanism.

        Args:
            connection: connection to read on.
            held: the reservation.

        Returns:
            The ids of these ledgers. Their guarantees do not cover the runs.
        """
        rows = ledgers.load(connection, *held.ledgers)
        contradicting = []
        for holding in held.holdings:
            contradictions = contradictions_of(rows[holding.ledger])
            if is_contradicted(held.id, holding.committed, contradictions):
                contradicting.append(holding.ledger)
        return contradicting

    def load_reservation(self, connection: Connection, tenant: str | None, identifier: str) -> ReservationRow:
        """Load a reservation in ledgers of a tenant, the organisation that owns them.

        Args:
            connection: connection to read on.
            tenant: owner of the ledgers; None means any.
            identifier: id of the reservation.

        Returns:
            The rows of the reservation, with its runs and their cost in each ledger.

        Raises:
            NotFound: there is no such reservation, or it has a ledger of another tenant.
        """
        held = reservations.get(connection, identifier, tenant=tenant)
        if held is None:
            raise NotFound(identifier)
        return held

    def commits(self, connection: Connection, held: ReservationRow) -> list[EntryRow]:
        """Find the log entries of a reservation's commits in all its ledgers, in the order of the log.

        Args:
            connection: connection to read on.
            held: the reservation.
        """
        rows: list[EntryRow] = []
        for holding in held.holdings:
            committed = entries.page(connection, limit=MOST_COMMITS, ledger=holding.ledger, kind="committed")
            rows += [row for row in committed if entry(row)["reservation"] == held.id]
        return sorted(rows, key=lambda row: row.seq)

    def row(self, connection: Connection, tenant: str | None, identifier: str) -> LedgerRow:
        """Load a ledger of a tenant, the organisation that owns it.

        Args:
            connection: connection to read on.
            tenant: owner of the ledger; None means any.
            identifier: id of the ledger.

        Returns:
            The rows of the ledger, with those of its slots (budgets), plan items and contradictions.

        Raises:
            NotFound: there is no such ledger, or it is another tenant's.
        """
        try:
            return ledgers.load(connection, identifier, tenant=tenant)[identifier]
        except Unknown:
            raise NotFound(identifier) from None


def _build_state(row: LedgerRow, held: Sequence[ReservationRow]) -> LedgerState:
    """Convert the database rows of a ledger and its reservations to the ledger's state.

    Args:
        row: rows of the ledger.
        held: reservations in this ledger.

    Raises:
        NotReconciled: the rows are not those of a ledger, so something other than the service changed them.
    """
    # Rows that something else changed may make any step of the conversion fail.
    try:
        return state_from(row, held)
    except (EpsilondError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        raise NotReconciled(f"The rows of the ledger {row.id} describe no ledger.", row.id) from None


def _add_voided_runs(connection: Connection, state: LedgerState, ledger: str, reservation: str) -> LedgerState:
    """Return the state of a ledger with the number of voided runs of a reservation, which only the log has.

    Args:
        connection: connection to read on.
        state: state of the ledger, from its rows.
        ledger: id of the ledger.
        reservation: id of the reservation.

    Returns:
        The state, in which `voided` of the reservation is the number of committed runs that were taken back.
    """
    held = state.reservations.get(reservation)
    if held is None or not held.committed:
        return state
    return state.with_reservation(replace(held, voided=_count_voided(connection, ledger, reservation)))


def _count_voided(connection: Connection, ledger: str, reservation: str) -> int:
    """Count the committed runs of a reservation that were voided (taken back) in a ledger, by its log entries."""
    void_entries = [entry(row) for row in entries.of_rare_kind(connection, [ledger], "voided")]
    return sum(record["count"] for record in void_entries if record["reservation"] == reservation)
