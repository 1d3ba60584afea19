"""Changes of a whole ledger by one person (seal, close, contradict), and the writing of all changes.

A change is judged on rows and versions that were read together. Then the ledgers are locked, and the change is written
if their versions are the same; otherwise it is judged again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Literal, TypeVar

from sqlalchemy import Connection

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.book.commits import MOST_TOGETHER, CommitRequest, commit_together, reservation_after
from epsilond.ledgers.book.continuity import Continuity
from epsilond.ledgers.book.desk import WRITTEN, Desk, States
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.book.logged.attempts import retry
from epsilond.ledgers.book.logged.entries import MovedLedger
from epsilond.ledgers.book.logged.fingerprints import fingerprint_of
from epsilond.ledgers.book.pending import Evaluate
from epsilond.ledgers.book.reader import BookReader
from epsilond.ledgers.book.restore import CheckpointFile
from epsilond.ledgers.book.states import rows_after, state_from
from epsilond.ledgers.correction_requests import ContradictAsked
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import ledgers, reservations
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import LedgerRow, ReservationRow
from epsilond.ledgers.store.transactions import Again, durably, looking, moving
from epsilond.storage.together import Together
from epsilond.storage.transactions import Database

T = TypeVar("T")
MOST_DUE = 100
"""Largest number of reservations that one call ends, so that a caller who waits for it waits for few."""


class OwnerMoves(BookReader):
    """Changes of a whole ledger by its owner or an operator: it is sealed, closed, or blocked after an observation.

    The class also has the transactions with which subclasses write all other changes. A change is computed from rows
    that were read before the lock. It is written only if the ledgers have not changed meanwhile; otherwise it is tried
    again.
    """

    def __init__(
        self,
        database: Database,
        keyring: Callable[[], SigningKeys],
        *,
        evaluate: Evaluate = lambda call: call(),
        clock: Callable[[], float] = time.time,
        file: CheckpointFile | None = None,
    ) -> None:
        """Open the book in a database.

        Args:
            database: holds the ledgers and the log.
            keyring: returns the present signing keys. Their name is the name of the log.
            evaluate: function that runs a slow, picklable computation and returns its result.
            clock: function that returns the present time in seconds since 1970.
            file: file outside the database with the log's newest signed head (size and Merkle root); None without one.
        """
        continuity = Continuity(file)
        super().__init__(database, keyring, Desk(keyring, clock, continuity), continuity)
        self._evaluate = evaluate
        self._clock = clock
        self._commits = Together(self._commit_together, most=MOST_TOGETHER)

    def seal(self, tenant: str, identifier: str, key: str, *, by: str = "") -> LedgerRow:
        """Seal a ledger, which states that the records of its data are fixed from now on, so that runs may read them.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The rows of the ledger after the change.
        """
        return self._change_state(tenant, identifier, key, "sealed", moves.seal, by)

    def close(self, tenant: str, identifier: str, key: str, *, by: str = "") -> LedgerRow:
        """Close a ledger: no more runs can be reserved.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The rows of the ledger after the change.
        """
        return self._change_state(tenant, identifier, key, "closed", moves.close, by)

    def contradict(
        self, tenant: str, identifier: str, request: ContradictAsked, key: str, *, by: str = ""
    ) -> LedgerRow:
        """Block all further commits, because a run was observed to differ from the mechanism that was paid for.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            request: the observations, and the reservations that paid for the run.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The rows of the ledger after the change.

        Raises:
            InvalidInput: a reservation is not in this ledger.
        """
        request_key = RequestKey(tenant, by, key, fingerprint_of("contradict", [identifier, request]))
        observations = request.evidence
        contradicted = request.reservations  # None means all reservations with committed runs

        def attempt() -> LedgerRow:
            """Mark the runs as contradicted, in one transaction that locks the ledger.

            The state is read under the lock. So no run can be committed between the reading and the writing.

            Returns:
                The rows of the ledger after the change, or the present rows if the request was answered before.
            """
            with self._moving({identifier: self._before(tenant, identifier)}, compared=False) as connection:
                states = self._desk.states(connection, tenant, [identifier], including=contradicted or ())
                row, state = states[identifier]
                if self._desk.find_answer(connection, request_key) is not None:
                    return row
                after = moves.contradict(state, observations, contradicted)
                record = entry_records.contradiction_record(observations, contradicted)
                return self._write_moved(connection, request_key, row, record, after)

        return retry(attempt)

    # Writing.

    def _commit_together(self, requests: Sequence[CommitRequest]) -> list[JsonRecord | None]:
        """Commit the runs of several callers, that is, spend their reserved budgets, in one database transaction.

        Args:
            requests: the commits, at most `MOST_TOGETHER`.

        Returns:
            The receipts for each request, in the order of `requests`. None for a commit that its caller must make
            separately; if the transaction fails, that is every commit.
        """
        try:
            with self._with_noted_head(durably(self._database)) as connection:
                return commit_together(connection, self._desk, requests, self._clock())
        except Exception:  # noqa: BLE001 (also of rows that cannot be read: they are of one ledger of the group)
            return [None] * len(requests)  # each caller then tries separately

    def _end_due(self, end: Callable[[str], object]) -> int:
        """End expired reservations, at most `MOST_DUE` of them, and return their number.

        If the database rows of a ledger contradict the log, its reservations are skipped, and others take their place.

        Args:
            end: function that ends the reservation with a given id.

        Returns:
            The number of reservations that were ended.
        """
        ended = 0
        skipped: set[str] = set()  # ids of ledgers; a further round is only needed if one was added
        while True:
            with self._continuous_log() as connection:
                due = reservations.due(connection, self._clock(), limit=MOST_DUE - ended, without=skipped)
            skipped_before = len(skipped)
            for reservation in due:
                if not skipped.isdisjoint(reservation.ledgers):
                    continue
                faulty = self._end_or_find_faulty(end, reservation)
                if faulty:
                    skipped |= faulty
                else:
                    ended += 1
            if len(skipped) == skipped_before or ended >= MOST_DUE:
                return ended

    def _end_or_find_faulty(self, end: Callable[[str], object], reservation: ReservationRow) -> set[str]:
        """End an expired reservation, so that its runs are free again, and return the ledgers that prevent this.

        Args:
            end: function that ends the reservation with a given id as expired.
            reservation: the reservation.

        Returns:
            Ids of ledgers with database rows that contradict the log. The set is empty if the reservation was ended.

        Raises:
            NotReconciled: the log as a whole lacks entries that it had before.
        """
        try:
            retry(partial(end, reservation.id))
        except NotReconciled as trouble:
            if trouble.ledger is None:
                raise
            return {trouble.ledger}
        except ValueError:  # the rows have impossible amounts
            return set(reservation.ledgers)
        return set()

    def _release(
        self,
        tenant: str | None,
        identifier: str,
        outcome: Literal["cancelled", "expired"],
        by: str = "",
    ) -> ReservationRow:
        """Free the uncommitted runs of a reservation, end it, and return it.

        A reservation that has ended, or of which all runs were committed, is returned unchanged. Log entries belong to
        one owner, so the end is logged once for each owner of the reservation's ledgers.

        Args:
            tenant: owner of the ledgers; None means any.
            identifier: id of the reservation.
            outcome: state of the reservation afterwards.
            by: name of the caller.

        Returns:
            The reservation after the change.

        Raises:
            Again: another caller changed one of the ledgers meanwhile.
        """
        with looking(self._database) as connection:
            held, states = self._desk.load_held(connection, tenant, identifier)
        has_ended = held.state in ("cancelled", "expired")
        is_all_committed = all(holding.committed == holding.count for holding in held.holdings)
        if has_ended or is_all_committed:
            return held
        after = {name: moves.release(state, identifier, outcome) for name, (_, state) in states.items()}
        with self._moving(states) as connection:
            self._write_rows(connection, held, states, after)
            records: dict[str, list[MovedLedger]] = {}
            for name, state in after.items():
                row, _ = states[name]
                record = entry_records.end_record(state.reservations[identifier])
                records.setdefault(row.tenant, []).append(MovedLedger(name, record, state))
            for owner in sorted(records):
                self._desk.write(connection, RequestKey(owner, by), {}, records[owner])
            return self._desk.load_reservation(connection, tenant, identifier)

    def _write_rows(
        self,
        connection: Connection,
        held: ReservationRow,
        states: States,
        after: Mapping[str, LedgerState],
    ) -> None:
        """Write the database rows of a changed reservation and of its ledgers.

        Args:
            connection: connection of the transaction of the change.
            held: the reservation before the change.
            states: rows and state of each ledger before the change, by its id.
            after: state of each ledger after the change, by its id.
        """
        for name, state in after.items():
            row, _ = states[name]
            ledgers.write(connection, row, rows_after(row, state))
        reservations.write(connection, [(held, reservation_after(held, after))])

    def _before(self, tenant: str, identifier: str) -> tuple[LedgerRow, LedgerState]:
        """Read a ledger without a lock, to name it to a transaction that locks it and reads it again.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The rows, and the state without its reservations, which take time to read.
        """
        row = self.ledger(tenant, identifier)
        return row, state_from(row, ())

    def _change_state(
        self,
        tenant: str,
        identifier: str,
        key: str,
        kind: str,
        move: Callable[[LedgerState], LedgerState],
        by: str,
    ) -> LedgerRow:
        """Make a change that needs only the state of a ledger, and return the ledger after it.

        The same request with the same key changes nothing a second time.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            key: idempotency key of the request.
            kind: kind of the entry in the log.
            move: returns the state after the move.
            by: name of the caller.

        Returns:
            The rows of the ledger after the change.
        """
        request_key = RequestKey(tenant, by, key, fingerprint_of(kind, [identifier, {}]))

        def attempt() -> LedgerRow:
            """Compute the new state before the lock, and write it if no other process changed the ledger meanwhile.

            Returns:
                The rows of the ledger after the change, or as they are if the request was answered before.
            """
            with looking(self._database) as connection:
                earlier_answer = self._desk.find_answer(connection, request_key)
                states = self._desk.states(connection, tenant, [identifier])
            row, state = states[identifier]
            if earlier_answer is not None:
                return row
            after = move(state)
            with self._moving(states) as connection:
                # The same request may have been answered before the lock was taken.
                if self._desk.find_answer(connection, request_key) is not None:
                    raise Again(key)
                return self._write_moved(connection, request_key, row, {"kind": kind}, after)

        return retry(attempt)

    def _write_moved(
        self, connection: Connection, key: RequestKey, row: LedgerRow, record: JsonObject, after: LedgerState
    ) -> LedgerRow:
        """Write the database rows and the log entry of one changed ledger, and return the new rows.

        Args:
            connection: connection of the transaction of the change.
            key: idempotency key and sender of the request. Its answer will be the ledger.
            row: rows of the ledger before the change.
            record: record of the change for the log.
            after: state of the ledger after the change.

        Returns:
            The rows of the ledger with its next version.
        """
        new_row = ledgers.write(connection, row, rows_after(row, after))
        self._desk.write(connection, key, {"ledger": row.id}, [MovedLedger(row.id, record, after)])
        return new_row

    @contextmanager
    def _moving(self, states: States, *, compared: bool = True) -> Iterator[Connection]:
        """Open a database transaction that locks ledgers, as a context manager.

        If it succeeds, this process remembers the log's new head (size and Merkle root), which later heads must
        continue.

        Args:
            states: rows and state of each ledger to lock, by its id.
            compared: whether to require that the ledgers still have the versions in `states`. False is for callers that
                read the ledgers again inside the transaction.

        Yields:
            The connection of the transaction.

        Raises:
            Again: a version differs.
        """
        versions = {name: row.version if compared else None for name, (row, _) in states.items()}
        with self._with_noted_head(moving(self._database, versions)) as connection:
            yield connection

    @contextmanager
    def _with_noted_head(self, transaction: AbstractContextManager[Connection]) -> Iterator[Connection]:
        """Run a transaction, and remember the log's new head if the transaction succeeds, as a context manager.

        A head is the number of entries of the log and their Merkle root. The log must continue every remembered head,
        so that this process notices lost entries.

        Args:
            transaction: context manager of the transaction. Its connection may have a new head, which `Desk.write_all`
                has put there.

        Yields:
            The connection of the transaction.
        """
        with transaction as connection:
            connection.info.pop(WRITTEN, None)
            yield connection
            head: Checkpoint | None = connection.info.pop(WRITTEN, None)
        if head is not None:
            self.continuity.see(head)
