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
        """True if the runs were planned in the ledgers and paid for in advance, so that nothing must be computed."""
        return self.job.spec is None and self.job.slot is None

    def row(self, after: Mapping[str, LedgerState], now: float) -> ReservationRow:
        """Return the database row of the new reservation.

        Args:
            after: states of the ledgers after the reservation was made, by their ids.
            now: present time in seconds since 1970.

        Returns:
            The row, with one holding, that is, the reserved runs or amounts, for each ledger.
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
    """Return whether runs of a reservation can be committed without a slow computation.

    Args:
        held: the reservation.

    Returns:
        True if the ledger's plan paid for the runs in advance, or if their charge is a sum over runs. Otherwise the
        first commit certifies the privacy loss of all reserved runs together.
    """
    return held.item is not None or held.charge is None or held.charge.additive


def commit_together(
    connection: Connection, desk: Desk, requests: Sequence[CommitRequest], now: float
) -> list[JsonRecord | None]:
    """Make simple commits of several callers in one database transaction. A commit spends a reserved budget.

    Some commits are skipped, and their callers make them one by one. These are commits that are slow, that fail, or
    that repeat the idempotency key of an earlier request. So are those of a reservation that has ended or expired, that
    has voided runs (committed runs that were taken back), or with a ledger that cannot be changed now.

    Args:
        connection: connection of a transaction that waits for the disk when it ends. It has locked no ledgers yet.
        desk: object that checks the rows against the log and writes the entries of the log.
        requests: the commits.
        now: present time in seconds since 1970.

    Returns:
        For each request the answer with the receipts; None for a skipped one.

    Raises:
        Again: another process used one of the keys meanwhile.
        NotReconciled: the log lacks entries that it had before.
    """
    moves = _commit_in_memory(connection, desk, requests, now)
    made_moves = [move for move in moves if move is not None]
    if not made_moves:
        return [None] * len(requests)
    # `write_all` returns one answer for each move that was made, in order.
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
        desk: checks that the rows of ledgers in the database agree with the log.
        requests: the commits.
        now: present time in seconds since 1970.

    Returns:
        For each commit the entries for the log; None for a skipped commit.
    """
    reservation_ids = {request.reservation for request in requests}
    owned_ids = {(request.key.tenant, request.reservation) for request in requests}
    ledger_ids = reservations.ledgers_of(connection, owned_ids)
    if not ledger_ids:
        return [None] * len(requests)
    lock_ledgers(connection, *ledger_ids)
    group = _Group(connection, desk, ledger_ids, reservation_ids, now)

    keys_of_requests = set().union(*(request.key.stored_keys for request in requests))
    used_keys = keys.find_taken(connection, keys_of_requests)
    moves: list[LoggedMove | None] = []
    for request in requests:
        # A request with a used idempotency key is skipped. Its caller gets the stored answer separately.
        records = group.commit(request) if used_keys.isdisjoint(request.key.stored_keys) else None
        used_keys |= request.key.stored_keys
        moves.append(None if records is None else LoggedMove(request.key, None, records))
    if any(move is not None for move in moves):
        group.write()
    return moves


class _Group:
    """Locked ledgers and reservations for a group of commits of several callers.

    Each commit spends the budget of reserved runs. The commits are made in memory, one after the other. `write` then
    writes the results of all of them.
    """

    def __init__(self, connection: Connection, desk: Desk, names: set[str], identifiers: set[str], now: float) -> None:
        """Read the ledgers and their reservations, and find the ledgers to which no commit may be made here.

        Args:
            connection: connection of a transaction that has locked the ledgers.
            desk: check of the rows of the ledgers against the log.
            names: ids of the ledgers.
            identifiers: ids of the reservations to commit.
            now: present time in seconds since 1970.
        """
        self._connection = connection
        self._now = now
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
        """Return the ids of the ledgers in which no commit can be made together with those of other callers.

        They are the ledgers that are closed or contradicted, cover the same people as another ledger, wait for the
        approval of a reconciliation, or differ from their newest log entry. A reconciliation accepts a log that lacks
        entries.

        Args:
            desk: check of the rows of the ledgers against the log.
        """
        excluded = {name for name, row in self._rows.items() if row.contradicted or row.status == "closed"}
        excluded |= owners.colliding_among(self._connection, self._rows.keys())
        # Only ledgers whose changes need an approval can have a reconciliation that waits.
        with_approval = [name for name, row in self._rows.items() if row.approval_from is not None]
        if with_approval:
            excluded |= pending.awaiting_reconciliation(self._connection, with_approval)
        states = {name: (row, self._before[name]) for name, row in self._rows.items()}
        return excluded | desk.balances.wrong(self._connection, states).keys()

    def commit(self, request: CommitRequest) -> tuple[MovedLedger, ...] | None:
        """Make a commit in memory, after the group's earlier commits.

        Args:
            request: the reservation and the number of its runs that are committed, with the caller's idempotency key.

        Returns:
            The log entries, one for each ledger. None if the caller must make the commit separately; nothing is changed
            then.
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
        """Write the rows of every ledger and reservation that the commits changed, once for the whole group."""
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
            tenant: owner of the ledgers, according to the request.

        Returns:
            True if the reservation has neither ended nor expired nor voided runs, all its ledgers are locked, are the
            tenant's and are not excluded, and its commit needs no slow computation.
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
    # A holding is what one ledger has reserved: runs or amounts.
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
    """Compute the state of each ledger after a reservation. Nothing is written.

    A reservation of several ledgers is made in all of them or in none.

    Args:
        request: the requested runs.
        states: row and present state of each ledger, by its id.
        evaluate: function that runs a slow, picklable computation and returns its result.

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
    """Return a ledger's state after a reservation in a slot, that is, in a budget for runs that were not planned.

    The computation may take seconds.

    Args:
        state: state of the ledger before the reservation.
        request: the requested runs.
        evaluate: function that runs a slow, picklable computation and returns its result.

    Raises:
        LedgerExhausted: too little is left; `nearest` has the largest count and the smallest noise that fit.
    """
    job = request.job.job
    try:
        after: LedgerState = evaluate(partial(moves.reserve, state, request.reservation, **job))
    except LedgerExhausted as error:
        # An item names planned runs, so it is no argument of the search in a slot.
        slot_job = {name: value for name, value in job.items() if name != "item"}
        raise evaluate(partial(add_nearest, error, state, **slot_job)) from None
    return after


def states_after_commit(request: CommitRequest, states: States, evaluate: Evaluate | None) -> dict[str, LedgerState]:
    """Compute the state of each ledger after a commit, which spends the budget of reserved runs.

    Args:
        request: the runs to commit.
        states: row and present state of each ledger of the reservation, by its id.
        evaluate: function that runs a slow, picklable computation and returns its result; None to compute directly.

    Returns:
        The new states by the ledgers' ids.
    """
    after = {}
    for name, (_, state) in states.items():
        compute_commit = partial(moves.commit, state, request.reservation, request.count)
        after[name] = compute_commit() if evaluate is None else evaluate(compute_commit)
    return after
