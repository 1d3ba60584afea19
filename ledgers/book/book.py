"""A book of ledgers: it makes each request in one transaction with its entries, and returns receipts of commits.

Slow computations are evaluated before anything is locked, from rows and a version that were read together. Then the
ledgers are locked in the order of their ids, and the move is made if their versions are the same. Quick moves (runs of
the plan, commits of charges that add up) are judged under the lock. A repeated request debits nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from epsilond.accountants.errors import BlockHasLedger, InvalidInput, ReservationEnded
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.commits import (
    CommitRequest,
    ReserveRequest,
    commit_records,
    is_quick,
    states_after_commit,
    states_after_reserve,
)
from epsilond.ledgers.book.desk import States
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.book.gated import ApprovalMoves
from epsilond.ledgers.book.logged.attempts import retry, retry_judged
from epsilond.ledgers.book.logged.entries import MovedLedger, canonical_text
from epsilond.ledgers.book.logged.fingerprints import fingerprint_of, without_default
from epsilond.ledgers.book.owning import require_movable, require_no_overlap
from epsilond.ledgers.book.states import row_of_opening, rows_after
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics.checks.readiness import require_consistent
from epsilond.ledgers.mathematics.opening import open_ledger
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.what_if import WhatIf, what_if
from epsilond.ledgers.requests import CommitAsked, JobAsked, OpenLedger, ReserveAsked
from epsilond.ledgers.store import ledgers, owners, reservations
from epsilond.ledgers.store.balances import MISPLACED
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import LedgerRow, ReservationRow
from epsilond.ledgers.store.specs import text_of
from epsilond.ledgers.store.transactions import Again, looking

T = TypeVar("T")


class Book(ApprovalMoves):
    """Ledgers of all tenants in one database, with one log. Every method blocks, and may be called in any thread.

    A tenant is an organisation. Others may not see its ledgers. Every method that changes something takes the
    idempotency key of its request. It returns the answer of the first request with that key and this caller. `by` is
    the caller's name, which entries record as `requested_by`; it is empty if callers have no names.

    Raises:
        NotFound: there is no such ledger or reservation of this tenant.
        KeyReused: the key came with another request.
        StoreFault: the database cannot be used. Nothing was written, or the answer to the same key shows the outcome.
        Contended: others moved the ledger each time; nothing was written.
        NotReconciled: the log may lack entries, after a restore: see `restore`.
    """

    def open(self, tenant: str, request: OpenLedger, key: str, *, by: str = "") -> LedgerRow:
        """Open a ledger, the privacy budget of a data set, and certify that all it allows is within its target (ε, δ).

        Args:
            tenant: owner of the ledger.
            request: the data set or a block of it, the target (ε, δ), the plan (mechanisms with numbers of runs) and
                the slots (budgets for other runs).
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The rows of the new ledger. The ledger of the first request with the same key if there was one.

        Raises:
            BlockHasLedger: the block has a ledger, open or closed; or one of the data set's ledgers has no block.
            Infeasible, ConditionViolated, InvalidInput: as `ledgers.mathematics.opening.open_ledger`.
        """
        request_key = RequestKey(tenant, by, key, fingerprint_of("open", without_default(request)))
        if request.approval and not by:
            raise InvalidInput.at("/approval", "needs callers with names", allowed="false")
        with looking(self._database) as connection:
            earlier_answer = self._desk.find_answer(connection, request_key)
        if earlier_answer is not None:
            return self.ledger(tenant, earlier_answer["ledger"])

        state, certified = self._evaluate(partial(open_ledger, **request.parts))
        specs = {item.name: text_of(item.spec) for item in state.plan}
        record = entry_records.opening_record(state, certified, specs)
        row = row_of_opening(
            request,
            state,
            identifier=f"ledger_{secrets.token_urlsafe(12)}",
            tenant=tenant,
            record=canonical_text(record),
            created=self._clock(),
        )
        names = {"dataset": request.dataset, "block": request.block or "", "name": request.name}
        moved = MovedLedger(row.id, record | names, state)
        return retry(partial(self._write_opened, row, moved, request_key))

    def _write_opened(self, row: LedgerRow, moved: MovedLedger, key: RequestKey) -> LedgerRow:
        """Write a new ledger to the database, with its opening entry in the log, and return it.

        Args:
            row: rows of the ledger.
            moved: the ledger after its opening, with the record of the entry.
            key: idempotency key and sender of the request.

        Returns:
            The new ledger. The ledger of the first request with the same key if there was one.

        Raises:
            BlockHasLedger: another ledger covers people of this one. Nothing is written.
            NotReconciled: a ledger's row differs from its log in the owner, the data set or the block. So a row was
                changed by something other than this service.
        """
        with self._moving({}) as connection:
            answer = self._desk.find_answer(connection, key)
            if answer is not None:
                return self._desk.row(connection, row.tenant, answer["ledger"])
            misplaced = owners.find_misplaced(connection, organisation=row.tenant)
            if misplaced:
                raise NotReconciled(MISPLACED.format(misplaced[0]), misplaced[0])
            try:
                ledgers.add(connection, row, opened_by=key.by or None)
            except ledgers.BlockTaken as taken:
                message = "the block has a ledger, open or closed: a second would double the loss unseen"
                details = {"ledger": str(taken)} if str(taken) else {}
                raise BlockHasLedger(message, None, details) from None
            self._desk.write(connection, key, {"ledger": row.id}, [moved])
            require_no_overlap(connection, row)  # no other ledger can be added after the write
        return row

    def what_if(self, tenant: str, identifier: str, job: JobAsked) -> WhatIf:
        """Return the cost of a job, and whether the ledger's remaining budget covers it; change nothing.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            job: runs of a planned item, or amounts of a slot, that would be reserved.

        Returns:
            Whether it fits, and a slot's charge. Otherwise the reason and, if too little is left, the nearest jobs.
        """
        state = self.asked_of(tenant, identifier, job)
        charge: WhatIf = self._evaluate(partial(what_if, state, **job.job))
        return charge

    def evaluate(self, tenant: str, identifier: str, computation: Callable[[LedgerState], T]) -> T:
        """Run a picklable computation on the current state of a ledger, and return its result; change nothing.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            computation: takes the state of the ledger.

        Returns:
            The result of the computation.

        Raises:
            BlockHasLedger: another ledger of the same people is open.
        """
        result: T = self._evaluate(partial(computation, self.sole_state(tenant, identifier)))
        return result

    def reserve(
        self, tenant: str, identifiers: Sequence[str], job: ReserveAsked, key: str, *, by: str = ""
    ) -> ReservationRow:
        """Reserve the budget of some runs in all of these ledgers, or in none if too little is left in one of them.

        Args:
            tenant: owner of the ledgers.
            identifiers: ids of the ledgers.
            job: the runs to reserve, and when the reservation expires.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The new reservation. The reservation of the first request with the same key if there was one.

        Raises:
            BlockHasLedger: another ledger of the same people is open.
            RunDiffers, LedgerExhausted, NotInPlan, NotSealed, LedgerClosed: as `moves.reserve`.
            ConditionViolated, InvalidInput: as `moves.reserve`.
        """
        request = ReserveRequest(
            key=RequestKey(tenant, by, key, fingerprint_of("reserve", [sorted(identifiers), job])),
            ledgers=tuple(identifiers),
            job=job,
            reservation=f"reservation_{secrets.token_urlsafe(12)}",
        )
        self.expire()
        return retry_judged(partial(self._reserve_once, request))

    def _reserve_once(self, request: ReserveRequest, under_lock: bool) -> ReservationRow:
        """Try once to make a reservation.

        A reservation of planned runs is quick to check. It is checked before the ledgers are locked, so that a request
        that does not fit locks nothing, and again under the lock. The cost of other runs takes time to compute. It is
        computed before the lock, and written only if no ledger was changed meanwhile.

        Args:
            request: the reservation to make.
            under_lock: whether to compute only under the lock, so that no other caller can change the ledgers.

        Returns:
            The new reservation. The reservation of the first request with the same key if there was one.

        Raises:
            Again: another caller changed a ledger or used the key meanwhile; the reservation must be tried again.
        """
        tenant = request.key.tenant
        with looking(self._database) as connection:
            answer = self._desk.find_answer(connection, request.key)
            if answer is not None:
                return self._desk.load_reservation(connection, tenant, answer["reservation"])
            states = self._desk.states(connection, tenant, request.ledgers)

        computes_under_lock = request.is_quick or under_lock
        after = {} if under_lock else states_after_reserve(request, states, self._evaluate)
        with self._moving(states, compared=not computes_under_lock) as connection:
            self._desk.require_unanswered(connection, request.key)
            if computes_under_lock:
                states = self._desk.states(connection, tenant, request.ledgers)
                after = states_after_reserve(request, states, self._evaluate)
            require_movable(connection, [row for row, _ in states.values()])
            return self._write_reservation(connection, request, states, after)

    def _write_reservation(
        self, connection: Connection, request: ReserveRequest, states: States, after: Mapping[str, LedgerState]
    ) -> ReservationRow:
        """Write a new reservation to the database, with the changed ledgers and the log entries, and return it.

        Args:
            connection: connection of the transaction of the change.
            request: the reservation to make.
            states: rows and state of each ledger before the reservation, by its id.
            after: state of each ledger with the reservation, by its id.
        """
        for name, state in after.items():
            row, _ = states[name]
            ledgers.write(connection, row, rows_after(row, state))
        reservation = request.row(after, self._clock())
        reservations.add(connection, reservation)
        records = []
        for holding in reservation.holdings:
            state = after[holding.ledger]
            record = entry_records.reservation_record(state.reservations[reservation.id], holding.spec)
            records.append(MovedLedger(holding.ledger, record, state))
        self._desk.write(connection, request.key, {"reservation": reservation.id}, records)
        return reservation

    def commit(self, tenant: str, identifier: str, request: CommitAsked, key: str, *, by: str = "") -> JsonRecord:
        """Spend the budget of reserved runs in all ledgers of the reservation, and return the receipts.

        The outputs of the runs may be released once the receipts are there.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.
            request: number of runs to commit; None means all that are left.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            A record with the member `receipts`, one for each ledger in the order of the ledgers' ids.

        Raises:
            BlockHasLedger: another ledger of the same people is open, or this ledger is closed and not the only one.
            LedgerExhausted, ReservationEnded, RunDiffers, InvalidInput: as `ledgers.mathematics.moves.commit`.
        """
        request_key = RequestKey(tenant, by, key, fingerprint_of("commit", [identifier, request]))
        commit = CommitRequest(request_key, identifier, request.count)
        answer = self._commits.submit(commit)
        if answer is not None:  # it was made together with commits of other callers
            return answer
        self.expire()
        return retry_judged(partial(self._commit_separately, commit))

    def _commit_separately(self, request: CommitRequest, under_lock: bool) -> JsonRecord:
        """Try once to commit runs (to spend their reserved budget) in a transaction of their own.

        The new states are computed under the lock of the ledgers if that is quick. Otherwise they are computed before
        the ledgers are locked, and written only if no ledger was changed meanwhile.

        Args:
            request: the runs to commit, with the idempotency key.
            under_lock: whether to compute slow states under the lock, too.

        Returns:
            The receipts, one for each ledger. The stored answer if the request was answered before.

        Raises:
            Again: another caller changed a ledger or used the key meanwhile; the commit must be tried again.
            ReservationEnded: the reservation has expired, or some of its runs were voided.
        """
        tenant = request.key.tenant
        with looking(self._database) as connection:
            answer = self._desk.find_answer(connection, request.key)
            held, states = self._desk.load_held(connection, tenant, request.reservation)
            if answer is not None:
                self._require_usable(connection, held, states)
                return answer
        self._require_unexpired(tenant, held)

        is_quick_commit = all(is_quick(state.reservations[held.id]) for _, state in states.values())
        if not is_quick_commit and not under_lock:
            after = states_after_commit(request, states, self._evaluate)
            with self._moving(states) as connection:
                self._desk.require_unanswered(connection, request.key)
                return self._write_commit(connection, request, held, states, after)

        with self._moving(states, compared=False) as connection:
            self._desk.require_unanswered(connection, request.key)
            locked_held, states = self._desk.load_held(connection, tenant, request.reservation)
            if locked_held.state != held.state:
                raise Again(request.key.value)
            evaluate = None if is_quick_commit else self._evaluate
            after = states_after_commit(request, states, evaluate)
            return self._write_commit(connection, request, locked_held, states, after)

    def _write_commit(
        self,
        connection: Connection,
        request: CommitRequest,
        held: ReservationRow,
        states: States,
        after: Mapping[str, LedgerState],
    ) -> JsonRecord:
        """Write a commit to the database, with its ledgers, reservation and log entries, and return the receipts.

        Args:
            connection: connection of a transaction that has locked the ledgers.
            request: the runs to commit, with the idempotency key.
            held: the reservation.
            states: rows and state of each ledger before the commit, by its id.
            after: state of each ledger after it.
        """
        require_movable(connection, [row for row, _ in states.values()])
        self._write_rows(connection, held, states, after)
        before = {name: state for name, (_, state) in states.items()}
        records = commit_records(held.id, before, after)
        return self._desk.write(connection, request.key, None, records)

    def _require_unexpired(self, tenant: str, held: ReservationRow) -> None:
        """Check that a reservation has not expired before its first commit. If it has, end it in the database.

        Args:
            tenant: owner of the ledgers.
            held: the reservation.

        Raises:
            ReservationEnded: the reservation has expired.
        """
        if held.state == "reserved" and held.expires is not None and held.expires <= self._clock():
            self._release(tenant, held.id, "expired")
            raise ReservationEnded("The reservation has expired.")

    def _require_usable(self, connection: Connection, held: ReservationRow, states: States) -> None:
        """Check that the receipts for a reservation's committed runs are still valid.

        Args:
            connection: connection to read on.
            held: the reservation.
            states: rows and state of each ledger of the reservation, by its id.

        Raises:
            RunDiffers: a run was observed to differ from the mechanism that one of the ledgers paid for.
            ReservationEnded: runs of the reservation were voided.
        """
        for _, state in states.values():
            require_consistent(state)
        if self._desk.was_voided(connection, held):
            raise ReservationEnded("Runs of the reservation were voided: its receipts are void.")

    def cancel(self, tenant: str, identifier: str, *, by: str = "") -> ReservationRow:
        """End a reservation, so that its uncommitted runs are free again.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.
            by: name of the caller.

        Returns:
            The reservation, unchanged if it had ended before.
        """
        return retry(partial(self._release, tenant, identifier, "cancelled", by))

    def expire(self) -> int:
        """End the reservations that are past their time, and return how many there were.

        Raises:
            NotReconciled: the log does not continue a head that is known.
        """
        return self._end_due(lambda identifier: self._release(None, identifier, "expired"))
