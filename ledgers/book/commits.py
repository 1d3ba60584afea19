"""Requests to commit and to reserve, and commits of several callers in one transaction.

A group takes one lock of the log's counter and one write to the disk. It has only commits without a computation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from epsilond.accountants.errors import EpsilondError, LedgerExhausted
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.desk import Desk, States
from epsilond.ledgers.book.logged.entries import LoggedMove, MovedLedger, entry
from epsilond.ledgers.book.owning import require_setting
from epsilond.ledgers.book.pending import Evaluate
from epsilond.ledgers.book.states import holding_of, rows_after, state_from
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.ledgers.mathematics.what_if import add_nearest
from epsilond.ledgers.requests import SECONDS, ReserveAsked
from epsilond.ledgers.store import entries, keys, ledgers, owners, pending, reservations
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import ReservationRow
from epsilond.ledgers.store.transactions import lock_ledgers

MOST_TOGETHER = 64  # commits in one transaction; with more, the first of them would wait long for the last


@dataclass(frozen=True)
class CommitRequest:
    """Request to commit reserved runs: to spend their budget, so that their outputs may be released.

    Attributes:
        key: idempotency key and sender of the request.
        reservation: id of the reservation.
        count: number of runs to commit; None means all that are left.
    """

    key: RequestKey
    reservation: str
    count: int | None


@dataclass(frozen=True, kw_only=True)
class ReserveRequest:
    """Request to reserve a part of the budget of ledgers for runs of a mechanism.

    Attributes:
        key: idempotency key and sender of the request.
        ledgers: ids of the ledgers.
        job: the runs to reserve, and when the reservation expires.
        reservation: id that the new reservation will have.
    """

    key: RequestKey
    ledgers: tuple[str, ...]
    job: ReserveAsked
    reservation: str

    @property
    def is_quick(self) -> bool:
        """True if the plan pays for the runs, so that nothing must be computed."""
        return self.job.spec is None and self.job.slot is None

    def row(self, after: Mapping[str, LedgerState], now: float) -> ReservationRow:
        """Return the database row of the new reservation.

        Args:
            after: states of the ledgers with the reservation, by their ids.
            now: present time in seconds since 1970.

        Returns:
            The row, with one holding (the reserved runs or amounts) for each ledger.
        """
        lifetime = SECONDS if self.job.expires_in is None else self.job.expires_in
        holdings = [holding_of(name, after[name].reservations[self.reservation]) for name in sorted(after)]
        return ReservationRow(
            id=self.reservation,
            tenant=self.key.tenant,
            created=now,
            expires=now + lifetime,
            holdings=tuple(holdings),
        )


def is_quick(held: Reservation) -> bool:
    """Return whether a commit of a reservation takes no time to compute.

    Args:
        held: the reservation.

    Returns:
        True if the plan pays, or if a slot's charge is a sum over runs. Otherwise the first commit certifies a whole
        job.
    """
    return held.item is not None or held.charge is None or held.charge.additive


def commit_together(
    connection: Connection, desk: Desk, requests: Sequence[CommitRequest], now: float
) -> list[JsonRecord | None]:
    """Make simple commits of several callers, which spend reserved budgets, in one database transaction.

    Commits that are slow, fail, or repeat an earlier key are skipped, as are those of expired, voided or blocked
    reservations. Their callers make them one by one.

    Args:
        connection: connection of a durable transaction that has locked no ledgers yet.
        desk: writes the log.
        requests: the commits.
        now: present time in seconds since 1970.

    Returns:
        The receipts for each request, or None for a skipped one.

    Raises:
        Again: another process used one of the keys meanwhile.
        NotReconciled: the log lacks entries that it had before.
    """
    moves = _commit_in_memory(connection, desk, requests, now)
    made_moves = [move for move in moves if move is not None]
    if not made_moves:
        return [None] * len(requests)
    # The answers are in the order of the moves that were made. A skipped request gets None in its place.
    answers = iter(desk.write_all(connection, made_moves))
    return [None if move is None else next(answers) for move in moves]


def _commit_in_memory(
    connection: Connection, desk: Desk, requests: Sequence[CommitRequest], now: float
) -> list[LoggedMove | None]:
    """Lock the ledgers of several commits, compute the commits, and write the changed rows, but not the log.

    A commit spends the budget of reserved runs. Commits of several callers share one transaction, because each
    transaction waits for the disk.

    Args:
        connection: connection of a durable transaction that has locked no ledgers yet.
        desk: checks the rows of the ledgers against the log.
        requests: the commits.
        now: present time in seconds since 1970.

    Returns:
        The records for the log of each commit; None for a skipped one.
    """
    # Lock the ledgers of all reservations, and read them.
    identifiers = {request.reservation for request in requests}
    names = reservations.ledgers_of(connection, {(request.key.tenant, request.reservation) for request in requests})
    if not names:
        return [None] * len(requests)
    lock_ledgers(connection, *names)
    group = _Group(connection, desk, names, identifiers, now)

    # Make the commits one on top of the other.
    keys_of_requests = set().union(*(request.key.stored_keys for request in requests))
    used_keys = keys.find_taken(connection, keys_of_requests)
    moves: list[LoggedMove | None] = []
    for request in requests:
        # A request with a used idempotency key is skipped: its caller gets the stored answer separately.
        records = group.commit(request) if used_keys.isdisjoint(request.key.stored_keys) else None
        used_keys |= request.key.stored_keys
        moves.append(None if records is None else LoggedMove(request.key, None, records))
    if any(move is not None for move in moves):
        group.write()
    return moves


class _Group:
    """Locked ledgers and reservations for a group of commits of several callers.

    Each commit spends the budget of reserved runs. The commits are made in memory, one on top of the other, and written
    together by `write`.
    """

    def __init__(self, connection: Connection, desk: Desk, names: set[str], identifiers: set[str], now: float) -> None:
        """Read the ledgers and their reservations, and find the ledgers to which no commit may be made here.

        Args:
            connection: connection of a transaction that has locked the ledgers.
            desk: checks the rows of the ledgers against the log.
            names: ids of the ledgers.
            identifiers: ids of the reservations to commit.
            now: present time in seconds since 1970.
        """
        self._connection = connection
        self._now = now
        # Rows of the ledgers and of their reservations, and the ids of reservations with voided runs.
        self._rows = ledgers.load(connection, *sorted(names))
        loaded = reservations.of_ledgers(connection, names, identifiers)
        self._held = {reservation.id: reservation for reservation in loaded}
        self._voided = {entry(row)["reservation"] for row in entries.of_rare_kind(connection, names, "voided")}

        # State of each ledger before the commits, and after those that were made in memory.
        self._before: dict[str, LedgerState] = {}
        for name, row in self._rows.items():
            own_reservations = [held for held in loaded if name in held.ledgers]
            self._before[name] = state_from(row, own_reservations)
        self._states = dict(self._before)
        self._changed: dict[str, ReservationRow] = {}
        self._excluded = self._find_excluded(desk)

    def _find_excluded(self, desk: Desk) -> set[str]:
        """Return the ids of the ledgers in which commits cannot be made together with those of other callers.

        Args:
            desk: reads and compares the rows of ledgers.

        Returns:
            Ids of ledgers that are closed or contradicted, or cover the same people as another ledger. Also of those
            that wait for the approval of a reconciliation, or differ from the newest log entry.
        """
        excluded = {name for name, row in self._rows.items() if row.contradicted or row.status == "closed"}
        excluded |= owners.colliding_among(self._connection, self._rows.keys())
        # Only ledgers with approval can have a reconciliation (acceptance of a log that lacks entries) that waits.
        with_approval = [name for name, row in self._rows.items() if row.approval_from is not None]
        if with_approval:
            excluded |= pending.awaiting_reconciliation(self._connection, with_approval)
        states = {name: (row, self._before[name]) for name, row in self._rows.items()}
        return excluded | desk.balances.wrong(self._connection, states).keys()

    def commit(self, request: CommitRequest) -> tuple[MovedLedger, ...] | None:
        """Make a commit in memory, on top of the group's earlier commits.

        Args:
            request: the reservation and the number of its runs that are committed, with the caller's idempotency key.

        Returns:
            The log entries, one for each ledger. None, without any change, if the caller must make the commit
            separately.
        """
        held = self._held.get(request.reservation)
        if held is None or not self._can_commit_together(held, request.key.tenant):
            return None
        try:
            after = {name: moves.commit(self._states[name], held.id, request.count) for name in held.ledgers}
        except EpsilondError:
            return None
        records = commit_records(held.id, self._states, after)
        self._states |= after
        self._changed[held.id] = reservation_after(held, after)
        return tuple(records)

    def write(self) -> None:
        """Write the rows of every ledger and reservation that the commits changed.

        The rows are written once for the whole group, in the transaction of its connection.
        """
        changed_ledgers = []
        for name, state in self._states.items():
            if state is not self._before[name]:
                row = self._rows[name]
                changed_ledgers.append((row, rows_after(row, state)))
        changed_reservations = [(self._held[name], after) for name, after in self._changed.items()]
        ledgers.write_all(self._connection, changed_ledgers)
        reservations.write(self._connection, changed_reservations)

    def _can_commit_together(self, held: ReservationRow, tenant: str) -> bool:
        """Return whether runs of a reservation can be committed in one transaction with those of other callers.

        Args:
            held: the reservation.
            tenant: owner of the ledgers, as the request states it.

        Returns:
            True if the reservation is live and valid, none of its ledgers is excluded, and its charge needs no
            computation.
        """
        has_ended = held.state not in ("reserved", "committed")
        has_expired = held.expires is not None and held.expires <= self._now
        if has_ended or has_expired or held.id in self._voided:
            return False
        are_locked = self._rows.keys() >= set(held.ledgers)
        if not are_locked or not self._excluded.isdisjoint(held.ledgers):
            return False
        if any(self._rows[name].tenant != tenant for name in held.ledgers):
            return False
        return all(is_quick(self._states[name].reservations[held.id]) for name in held.ledgers)


def commit_records(
    identifier: str, before: Mapping[str, LedgerState], after: Mapping[str, LedgerState]
) -> list[MovedLedger]:
    """Return the log entries of a commit, which spends the budget of reserved runs.

    Args:
        identifier: id of the reservation of which runs were committed.
        before: states of the ledgers before the commit, by their ids.
        after: states of the ledgers after the commit, by their ids.

    Returns:
        One log entry for each ledger in `after`, with the runs of this commit only.
    """
    records = []
    for name, state in after.items():
        reservation = state.reservations[identifier]
        runs = reservation.committed - before[name].reservations[identifier].committed
        records.append(MovedLedger(name, entry_records.commit_record(reservation, runs), state))
    return records


def reservation_after(held: ReservationRow, after: Mapping[str, LedgerState]) -> ReservationRow:
    """Return the database row of a reservation after some of its ledgers have changed, such as by a commit.

    Args:
        held: the row before the change.
        after: new states of the changed ledgers, by their ids; at least one.

    Returns:
        The row with the new amounts. It has no expiry once all runs are committed.
    """
    # Replace the holdings (runs or amounts) in the changed ledgers.
    holdings = []
    for holding in held.holdings:
        ledger = after.get(holding.ledger)
        if ledger is None:
            holdings.append(holding)
        else:
            holdings.append(holding_of(holding.ledger, ledger.reservations[held.id]))

    # The state is the same in all ledgers.
    first_ledger = next(iter(after.values()))
    state = first_ledger.reservations[held.id].state
    is_all_committed = all(holding.committed == holding.count for holding in holdings)
    expires = None if is_all_committed else held.expires
    return replace(held, state=state, holdings=tuple(holdings), expires=expires)


def states_after_reserve(request: ReserveRequest, states: States, evaluate: Evaluate) -> dict[str, LedgerState]:
    """Compute the state of each ledger after a reservation, by the ledger's id. Nothing is written.

    A reservation of several ledgers is made in all of them or in none.

    Args:
        request: the requested runs.
        states: rows and present state of each ledger, by its id.
        evaluate: runs a slow, picklable computation and returns its result.

    Returns:
        The new states by the ledgers' ids.

    Raises:
        InvalidInput: the requested runs have another relation or unit than a ledger.
        LedgerExhausted: the runs do not fit one of the ledgers.
    """
    for _, state in states.values():
        require_setting(state, request.job)
    after = {}
    for name, (_, state) in states.items():
        if request.is_quick:
            after[name] = moves.reserve(state, request.reservation, **request.job.job)
        else:
            after[name] = _reserve_in_slot(state, request, evaluate)
    return after


def _reserve_in_slot(state: LedgerState, request: ReserveRequest, evaluate: Evaluate) -> LedgerState:
    """Return a ledger after one of its slots, a part of the budget, reserved amounts for runs of a mechanism.

    Args:
        state: the ledger.
        request: the requested runs.
        evaluate: runs a slow, picklable computation and returns its result.

    Returns:
        The ledger with the reservation. The computation may take seconds.

    Raises:
        LedgerExhausted: too little is left; `nearest` has the largest count and the smallest noise that fit.
    """
    job = request.job.job
    try:
        after: LedgerState = evaluate(partial(moves.reserve, state, request.reservation, **job))
    except LedgerExhausted as refused:  # the search for nearest jobs is for slots only and takes no item
        slot_job = {name: value for name, value in job.items() if name != "item"}
        raise evaluate(partial(add_nearest, refused, state, **slot_job)) from None
    return after


def states_after_commit(request: CommitRequest, states: States, evaluate: Evaluate | None) -> dict[str, LedgerState]:
    """Compute the state of each ledger after a commit, which spends the budget of reserved runs.

    Args:
        request: the runs to commit.
        states: rows and present state of each ledger of the reservation, by its id.
        evaluate: runs a slow, picklable computation and returns its result; None computes here.

    Returns:
        The new states by the ledgers' ids.
    """
    after = {}
    for name, (_, state) in states.items():
        call = partial(moves.commit, state, request.reservation, request.count)
        after[name] = call() if evaluate is None else evaluate(call)
    return after
