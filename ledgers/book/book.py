"""A book of ledgers: it makes each request in one transaction with its entries, and returns receipts of commits.

Slow computations are evaluated before anything is locked, from rows and a version that were read together. Then the
ledgers are locked in the order of their ids, and the move is made if their versions are the same. Quick moves (runs of
the plan, commits of charges that add up) are judged under the lock and never repeated. Idempotency keys are kept for
ever with their answers, so that a repeated request is answered the same and debits nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from epsilond.accountants.errors import BlockHasLedger, InvalidInput, LedgerExhausted, ReservationEnded
from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.changes import fingerprint_of, without_default
from epsilond.ledgers.book.commits import CommitRequest, commit_records, is_quick
from epsilond.ledgers.book.desk import MovedLedger, States, text
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.book.gated import ApprovalMoves
from epsilond.ledgers.book.owning import require_movable, require_relation
from epsilond.ledgers.book.states import holding_of, item_of, parts_of, rows_after
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.mathematics import entries as entry_records
from epsilond.ledgers.mathematics import moves
from epsilond.ledgers.mathematics.opening import open_ledger
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.mathematics.what_if import WhatIf, add_nearest, what_if
from epsilond.ledgers.requests import (
    SECONDS,
    CommitAsked,
    JobAsked,
    OpenLedger,
    ReserveAsked,
)
from epsilond.ledgers.store import ledgers, owners, reservations
from epsilond.ledgers.store.balances import MISPLACED
from epsilond.ledgers.store.records import LedgerRow, ReservationRow
from epsilond.ledgers.store.specs import text_of
from epsilond.ledgers.store.transactions import Again, looking

T = TypeVar("T")
MOST_RECEIPTS = 20


class Book(ApprovalMoves):
    """Ledgers of all tenants in one database, with one log. Every method blocks, and may be called in any thread.

    A tenant is an organisation, whose ledgers others may not see. Every method that changes something takes the
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
        """Open a ledger, certified to stay within its target.

        Args:
            tenant: owner of the ledger.
            request: the ledger.
            key: idempotency key of the request.
            by: name of the caller.

        Raises:
            BlockHasLedger: the block has a ledger, open or closed; or one of the data set's ledgers has no block.
            Infeasible, ConditionViolated, InvalidInput: as `ledgers.mathematics.opening.open_ledger`.
        """
        fingerprint = fingerprint_of("open", without_default(request))
        if request.approval and not by:
            raise InvalidInput.at("/approval", "needs callers with names", allowed="false")
        with looking(self._database) as connection:
            before = self._desk.find_answer(connection, tenant, key, fingerprint, by)
        if before is not None:
            return self.ledger(tenant, before["ledger"])
        state, certified = self._evaluate(partial(open_ledger, **request.parts))
        record = entry_records.opening_record(state, certified, {item.name: text_of(item.spec) for item in state.plan})
        row = LedgerRow(
            id=f"ledger_{secrets.token_urlsafe(12)}",
            tenant=tenant,
            dataset=request.dataset,
            block=request.block or "",
            name=request.name,
            record=text(record),
            created=self._clock(),
            sealed=state.sealed,
            parts=tuple(part for slot in state.slots for part in parts_of(slot)),
            items=tuple(item_of(item) for item in state.plan),
            approval_from=0 if state.approval else None,
        )

        def write() -> LedgerRow:
            with self._moving({}) as connection:
                again = self._desk.find_answer(connection, tenant, key, fingerprint, by)
                if again is not None:
                    return self._desk.row(connection, tenant, again["ledger"])
                for misplaced in owners.find_misplaced(connection, organisation=tenant):
                    raise NotReconciled(MISPLACED.format(misplaced), misplaced)
                try:
                    ledgers.add(connection, row, opened_by=by or None)
                except ledgers.BlockTaken as taken:
                    message = "the block has a ledger, open or closed: a second would double the loss unseen"
                    raise BlockHasLedger(message, None, {"ledger": str(taken)} if str(taken) else {}) from None
                where = {"dataset": request.dataset, "block": request.block or "", "name": request.name}
                moved = MovedLedger(row.id, record | where, state)
                self._desk.write(connection, tenant, key, fingerprint, {"ledger": row.id}, [moved], by)
                overlapping = ledgers.overlapping(connection, row)
                if overlapping is not None:
                    message = "the dataset has ledgers of blocks and would have one of the whole: both lose unseen"
                    raise BlockHasLedger(message, None, {"ledger": overlapping})
                if owners.is_barred(connection, row):
                    message = (
                        "another organisation has a ledger of the data set, and one of the two names or named none"
                    )
                    raise BlockHasLedger(message, None, {})
            return row

        return self._retry(write)

    def what_if(self, tenant: str, identifier: str, job: JobAsked) -> WhatIf:
        """Return the cost of a job and whether it fits; change nothing.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            job: the job.
        """
        state = self.asked_of(tenant, identifier, job)
        result: WhatIf = self._evaluate(partial(what_if, state, **job.job))
        return result

    def evaluate(self, tenant: str, identifier: str, computation: Callable[[LedgerState], T]) -> T:
        """Return the result of a picklable computation on the current state of a ledger; change nothing.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            computation: takes the state of the ledger.

        Raises:
            BlockHasLedger: another ledger of the same people is open.
        """
        result: T = self._evaluate(partial(computation, self.sole_state(tenant, identifier)))
        return result

    def asked_of(self, tenant: str, identifier: str, job: JobAsked) -> LedgerState:
        """Return the state of a ledger, after checking that the job names no other relation than the ledger's.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            job: the job.

        Raises:
            BlockHasLedger: another ledger of the same people is open.
        """
        state = self.sole_state(tenant, identifier)
        require_relation(state, job)
        return state

    def reserve(
        self, tenant: str, identifiers: Sequence[str], job: ReserveAsked, key: str, *, by: str = ""
    ) -> ReservationRow:
        """Hold runs in these ledgers: in all of them, or in none.

        Args:
            tenant: owner of the ledgers.
            identifiers: ids of the ledgers.
            job: the runs to hold, and when the reservation expires.
            key: idempotency key of the request.
            by: name of the caller.

        Raises:
            BlockHasLedger: another ledger of the same people is open.
            RunDiffers: as `moves.reserve`.
            LedgerExhausted, NotInPlan, NotSealed, LedgerClosed, ConditionViolated, InvalidInput: as `moves.reserve`.
        """
        fingerprint = fingerprint_of("reserve", [sorted(identifiers), job])
        identifier = f"reservation_{secrets.token_urlsafe(12)}"

        quick = job.spec is None and job.slot is None

        def after_of(states: States) -> dict[str, LedgerState]:
            for _, state in states.values():
                require_relation(state, job)
            if quick:
                return {name: moves.reserve(state, identifier, **job.job) for name, (_, state) in states.items()}
            return {name: self._reserve_priced(state, identifier, job) for name, (_, state) in states.items()}

        def attempt(under_lock: bool) -> ReservationRow:
            with looking(self._database) as connection:
                earlier = self._desk.find_answer(connection, tenant, key, fingerprint, by)
                if earlier is not None:
                    return self._desk.load_reservation(connection, tenant, earlier["reservation"])
                states = self._desk.states(connection, tenant, identifiers)
            judged_inside = quick or under_lock
            after = {} if under_lock else after_of(states)
            with self._moving(states, compared=not judged_inside) as connection:
                if self._desk.find_answer(connection, tenant, key, fingerprint, by) is not None:
                    raise Again(key)
                if judged_inside:
                    states = self._desk.states(connection, tenant, identifiers)
                    after = after_of(states)
                require_movable(connection, [row for row, _ in states.values()])
                now = self._clock()
                reservation = ReservationRow(
                    id=identifier,
                    tenant=tenant,
                    created=now,
                    expires=now + (SECONDS if job.expires_in is None else job.expires_in),
                    holdings=tuple(holding_of(name, after[name].reservations[identifier]) for name in sorted(after)),
                )
                for name, state in after.items():
                    ledgers.write(connection, states[name][0], rows_after(states[name][0], state))
                reservations.add(connection, reservation)
                records = [
                    MovedLedger(
                        name,
                        entry_records.reservation_record(after[name].reservations[identifier], holding.spec),
                        after[name],
                    )
                    for name, holding in zip(sorted(after), reservation.holdings, strict=True)
                ]
                self._desk.write(connection, tenant, key, fingerprint, {"reservation": identifier}, records, by)
            return reservation

        self.expire()
        return self._retry_judged(attempt)

    def _reserve_priced(self, state: LedgerState, identifier: str, job: ReserveAsked) -> LedgerState:
        """Return a ledger after a charge that takes time to price.

        Raises:
            LedgerExhausted: with the nearest charges that fit.
        """
        try:
            after: LedgerState = self._evaluate(partial(moves.reserve, state, identifier, **job.job))
        except LedgerExhausted as refused:
            of_slot = {part: value for part, value in job.job.items() if part != "item"}
            raise self._evaluate(partial(add_nearest, refused, state, **of_slot)) from None
        return after

    def reservation(self, tenant: str, identifier: str) -> ReservationRow:
        """Return a reservation. `receipts` returns the receipts of its commits."""
        with looking(self._database) as connection:
            return self._desk.load_reservation(connection, tenant, identifier)

    def contradicting_ledgers(self, held: ReservationRow) -> list[str]:
        """Return the ids of the ledgers that contradict the run of a reservation."""
        with looking(self._database) as connection:
            return self._desk.contradicting_ledgers(connection, held)

    def receipts(self, tenant: str, identifier: str) -> list[Receipt]:
        """Return receipts of the newest commits of a reservation, under the current head, oldest first.

        The list is empty if runs of the reservation were voided or contradicted: no run may begin with them.
        """
        with self._continuous_log() as connection:
            held = self._desk.load_reservation(connection, tenant, identifier)
            if not any(holding.committed for holding in held.holdings) or self._desk.was_voided(connection, held):
                return []
            if self._desk.contradicting_ledgers(connection, held):
                return []
            rows = self._desk.commits(connection, held)[-MOST_RECEIPTS:]
            size = self._signed_size(connection)
            return [self._desk.receipt(connection, row, size) for row in rows]

    def commit(self, tenant: str, identifier: str, request: CommitAsked, key: str, *, by: str = "") -> JsonRecord:
        """Commit runs of a reservation in all its ledgers, and return the receipts.

        The outputs of the runs may be released once the receipts are there.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.
            request: number of runs to commit.
            key: idempotency key of the request.
            by: name of the caller.

        Raises:
            BlockHasLedger: another ledger of the same people is open, or this ledger is closed and not the only one.
            LedgerExhausted, ReservationEnded, RunDiffers, InvalidInput: as `moves.commit`.
        """
        fingerprint = fingerprint_of("commit", [identifier, request])
        commit = CommitRequest(tenant, identifier, request.count, key, by, fingerprint)
        answer = self._commits.submit(commit)
        if answer is not None:  # it was made in one transaction with commits of other callers
            return answer
        self.expire()
        return self._retry_judged(partial(self._commit_separately, commit))

    def _commit_separately(self, request: CommitRequest, under_lock: bool) -> JsonRecord:
        """Try once to make a commit in a transaction of its own.

        The new states are computed under the lock of the ledgers if that is quick (see `is_quick`). Otherwise they are
        computed before the ledgers are locked, and written only if no ledger was moved meanwhile.

        Args:
            request: the commit.
            under_lock: whether to compute slow states, too, under the lock, so that no other move can interfere.

        Returns:
            The receipts, one for each ledger. The kept answer if the request was answered before.

        Raises:
            Again: another caller moved a ledger or used the key meanwhile; the commit must be tried again.
            ReservationEnded: the reservation has expired, or some of its runs were voided.
        """
        with looking(self._database) as connection:
            answer = self._answer_to_commit(connection, request)
            held, states = self._desk.load_held(connection, request.tenant, request.reservation)
            if answer is not None:
                self._require_usable(connection, held, states)
                return answer
        if held.state == "reserved" and held.expires is not None and held.expires <= self._clock():
            self._release(request.tenant, request.reservation, "expired")
            raise ReservationEnded("The reservation has expired.")
        quick = all(is_quick(state.reservations[held.id]) for _, state in states.values())
        computed_inside = quick or under_lock
        after = {} if computed_inside else self._states_after_commit(request, states, quick)
        with self._moving(states, compared=not computed_inside) as connection:
            if self._answer_to_commit(connection, request) is not None:
                raise Again(request.key)
            if computed_inside:
                state_before_lock = held.state
                held, states = self._desk.load_held(connection, request.tenant, request.reservation)
                if held.state != state_before_lock:
                    raise Again(request.key)
                after = self._states_after_commit(request, states, quick)
            require_movable(connection, [row for row, _ in states.values()])
            self._write_rows(connection, held, states, after)
            records = commit_records(held.id, {name: state for name, (_, state) in states.items()}, after)
            return self._desk.write(
                connection, request.tenant, request.key, request.fingerprint, None, records, request.by
            )

    def _answer_to_commit(self, connection: Connection, request: CommitRequest) -> JsonRecord | None:
        """Return the kept answer to an equal request with the key of this commit; None if there is none."""
        return self._desk.find_answer(connection, request.tenant, request.key, request.fingerprint, request.by)

    def _require_usable(self, connection: Connection, held: ReservationRow, states: States) -> None:
        """Require that the kept receipts of a reservation still allow its runs.

        Raises:
            RunDiffers: an observation contradicts a run that was paid from one of the ledgers.
            ReservationEnded: runs of the reservation were voided.
        """
        for _, state in states.values():
            moves.require_consistent(state)
        if self._desk.was_voided(connection, held):
            raise ReservationEnded("Runs of the reservation were voided: its receipts are good for nothing.")

    def _states_after_commit(self, request: CommitRequest, states: States, quick: bool) -> dict[str, LedgerState]:
        """Return the state of each ledger after a commit, by the ledger's id.

        Args:
            request: the commit.
            states: rows and state of each ledger of the reservation.
            quick: whether to compute here. Otherwise the book's `evaluate` runs the computation.
        """
        after = {}
        for name, (_, state) in states.items():
            call = partial(moves.commit, state, request.reservation, request.count)
            after[name] = call() if quick else self._evaluate(call)
        return after

    def cancel(self, tenant: str, identifier: str, *, by: str = "") -> ReservationRow:
        """Give back the runs that were not committed. Return a reservation that has ended as it is.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.
            by: name of the caller.
        """
        return self._retry(partial(self._release, tenant, identifier, "cancelled", by))

    def expire(self) -> int:
        """End the reservations whose time has passed, and return how many there were.

        Raises:
            NotReconciled: the log does not continue a head that is known.
        """
        return self._end_due(lambda identifier: self._release(None, identifier, "expired"))
