"""Requests to commit and to reserve, and commits of several callers in one transaction.

A group of commits takes one lock of the log's counter and one write to the disk.

A group takes only commits that change nothing but amounts: of a live reservation, in ledgers without contradictions,
with a charge that needs no computation. Every other commit is left to its caller, who makes it separately and gets the
reason of a rejection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from epsilond.accountants.errors import EpsilondError
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.desk import Desk, LoggedMove, MovedLedger, entry, scope_of
from epsilond.ledgers.book.states import holding_of, rows_after, state_from
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.state import LedgerState, Reservation
from epsilond.ledgers.requests import SECONDS, ReserveAsked
from epsilond.ledgers.store import entries, keys, ledgers, owners, pending, reservations
from epsilond.ledgers.store.records import ReservationRow
from epsilond.ledgers.store.transactions import lock_ledgers

MOST_TOGETHER = 64
"""Largest number of commits in one transaction: with more, the first of them would wait for the last for long."""


@dataclass(frozen=True)
class CommitRequest:
    """A requested commit.

    Attributes:
        tenant: owner of the reservation's ledgers.
        reservation: id of the reservation.
        count: number of runs to commit; None means all that are left.
        key: idempotency key of the request.
        by: name of the caller.
        fingerprint: digest of the request, to recognise the same key with another request.
    """

    tenant: str
    reservation: str
    count: int | None
    key: str
    by: str
    fingerprint: str

    @property
    def kept_keys(self) -> set[tuple[str, str]]:
        """The idempotency key with each owner under whom its answer may be kept; an earlier version kept no tenant."""
        return {(scope_of(self.tenant, self.by), self.key), (self.by or self.tenant, self.key)}


@dataclass(frozen=True, kw_only=True)
class ReserveRequest:
    """A requested reservation.

    Attributes:
        tenant: owner of the ledgers.
        ledgers: ids of the ledgers.
        job: the runs to reserve, and when the reservation expires.
        key: idempotency key of the request.
        by: name of the caller.
        fingerprint: digest of the request, to recognise the same key with another request.
        reservation: id that the new reservation will have.
    """

    tenant: str
    ledgers: tuple[str, ...]
    job: ReserveAsked
    key: str
    by: str
    fingerprint: str
    reservation: str

    @property
    def is_quick(self) -> bool:
        """True if the plan pays for the runs, so that nothing must be computed."""
        return self.job.spec is None and self.job.slot is None

    def row(self, after: Mapping[str, LedgerState], now: float) -> ReservationRow:
        """Return the row of the new reservation.

        Args:
            after: states of the ledgers with the reservation, by their ids.
            now: present time in seconds since 1970.
        """
        lifetime = SECONDS if self.job.expires_in is None else self.job.expires_in
        return ReservationRow(
            id=self.reservation,
            tenant=self.tenant,
            created=now,
            expires=now + lifetime,
            holdings=tuple(holding_of(name, after[name].reservations[self.reservation]) for name in sorted(after)),
        )


def is_quick(held: Reservation) -> bool:
    """Return whether a commit is cheap to judge: it is of runs of the plan, or its charge is additive."""
    return held.item is not None or held.charge is None or held.charge.additive


def commit_together(
    connection: Connection, desk: Desk, requests: Sequence[CommitRequest], now: float
) -> list[JsonRecord | None]:
    """Make simple commits of several callers in one transaction.

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
    identifiers = {request.reservation for request in requests}
    names = reservations.ledgers_of(connection, {(request.tenant, request.reservation) for request in requests})
    if not names:
        return [None] * len(requests)
    lock_ledgers(connection, *names)
    group = _Group(connection, desk, names, identifiers, now)
    taken = keys.find_taken(connection, set().union(*(request.kept_keys for request in requests)))
    logged: list[LoggedMove | None] = []
    for request in requests:
        records = group.commit(request) if taken.isdisjoint(request.kept_keys) else None
        taken |= request.kept_keys
        logged.append(
            None
            if records is None
            else LoggedMove(request.tenant, request.by, request.key, request.fingerprint, None, records)
        )
    written = [move for move in logged if move is not None]
    if not written:
        return [None] * len(requests)
    group.write()
    answers = iter(desk.write_all(connection, written))
    return [None if move is None else next(answers) for move in logged]


class _Group:
    """Locked ledgers and reservations of a group of commits, with the commits that were made so far."""

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
        self._rows = ledgers.load(connection, *sorted(names))
        self._held = {
            reservation.id: reservation for reservation in reservations.of_ledgers(connection, names, identifiers)
        }
        self._excluded = owners.colliding_among(connection, names)
        gated = [name for name, row in self._rows.items() if row.approval_from is not None]
        self._excluded |= pending.awaiting_reconciliation(connection, gated) if gated else set()
        self._excluded |= {name for name, row in self._rows.items() if row.contradicted or row.status == "closed"}
        self._voided = {entry(row)["reservation"] for row in entries.of_rare_kind(connection, names, "voided")}
        self._states = {
            name: state_from(row, [held for held in self._held.values() if _holds_in(held, name)])
            for name, row in self._rows.items()
        }
        moved = {name: (row, self._states[name]) for name, row in self._rows.items()}
        self._excluded |= desk.balances.wrong(connection, moved).keys()
        self._before = dict(self._states)
        self._changed: dict[str, ReservationRow] = {}
        self._now = now

    def commit(self, request: CommitRequest) -> tuple[MovedLedger, ...] | None:
        """Make a commit in memory and return its log entries, one for each ledger.

        Returns:
            The entries. None, without any change, if the caller must make the commit separately.
        """
        held = self._held.get(request.reservation)
        if held is None or not self._can_commit_together(held, request.tenant):
            return None
        names = [holding.ledger for holding in held.holdings]
        try:
            after = {name: moves.commit(self._states[name], held.id, request.count) for name in names}
        except EpsilondError:
            return None
        records = commit_records(held.id, self._states, after)
        self._states |= after
        self._changed[held.id] = reservation_after(held, after)
        return tuple(records)

    def write(self) -> None:
        """Write the rows of every ledger and reservation that the commits changed."""
        moved = [name for name, state in self._states.items() if state is not self._before[name]]
        ledgers.write_all(
            self._connection, [(self._rows[name], rows_after(self._rows[name], self._states[name])) for name in moved]
        )
        reservations.write(self._connection, [(self._held[name], after) for name, after in self._changed.items()])

    def _can_commit_together(self, held: ReservationRow, tenant: str) -> bool:
        """Return whether a reservation of this tenant is valid, not blocked, and quick to commit."""
        names = {holding.ledger for holding in held.holdings}
        expired = held.expires is not None and held.expires <= self._now
        return (
            held.state in ("reserved", "committed")
            and names <= self._rows.keys()
            and not expired
            and held.id not in self._voided
            and self._excluded.isdisjoint(names)
            and all(self._rows[name].tenant == tenant for name in names)
            and all(is_quick(self._states[name].reservations[held.id]) for name in names)
        )


def commit_records(
    identifier: str, before: Mapping[str, LedgerState], after: Mapping[str, LedgerState]
) -> list[MovedLedger]:
    """Return the records of a commit for the log, one for each ledger in `after`.

    Args:
        identifier: id of the reservation of which runs were committed.
        before: states of the ledgers before the commit, by their ids.
        after: states of the ledgers after the commit, by their ids.
    """
    records = []
    for name, state in after.items():
        reservation = state.reservations[identifier]
        runs = reservation.committed - before[name].reservations[identifier].committed
        records.append(MovedLedger(name, entry_records.commit_record(reservation, runs), state))
    return records


def reservation_after(held: ReservationRow, after: Mapping[str, LedgerState]) -> ReservationRow:
    """Return the row of a reservation after a change of its ledgers. It no longer expires once all is committed."""
    holdings = tuple(
        holding_of(holding.ledger, after[holding.ledger].reservations[held.id]) if holding.ledger in after else holding
        for holding in held.holdings
    )
    state = next(iter(after.values())).reservations[held.id].state
    is_over = all(holding.committed == holding.count for holding in holdings)
    return replace(held, state=state, holdings=holdings, expires=None if is_over else held.expires)


def _holds_in(held: ReservationRow, ledger: str) -> bool:
    """Return whether a reservation holds runs in a ledger."""
    return any(holding.ledger == ledger for holding in held.holdings)
