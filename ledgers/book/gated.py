"""Amendments, voids and reconciliations: made at once, or in a ledger with approval once a second person approves."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from epsilond.accountants.errors import AwaitsApproval, InvalidInput, MoveEnded, SamePerson
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.book.changes import OwnerMoves
from epsilond.ledgers.book.desk import States
from epsilond.ledgers.book.errors import RoleMissing
from epsilond.ledgers.book.logged.attempts import retry
from epsilond.ledgers.book.logged.entries import MovedLedger, time_of
from epsilond.ledgers.book.logged.fingerprints import fingerprint_of
from epsilond.ledgers.book.pending import (
    GatedRequest,
    JudgedMove,
    find_move,
    is_over,
    judge_move,
    load_states,
    read_request,
    require_unblocked,
    store_pending,
)
from epsilond.ledgers.book.states import rows_after
from epsilond.ledgers.correction_requests import AmendAsked, VoidAsked
from epsilond.ledgers.log.encodings import to_base64
from epsilond.ledgers.mathematics.checks.people import is_same_person, normalise_person
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import ledgers, pending
from epsilond.ledgers.store.keys import RequestKey
from epsilond.ledgers.store.records import LedgerRow, PendingRow
from epsilond.ledgers.store.transactions import Again, looking

PENDING_SECONDS: Final = 604_800.0  # after a week a pending move expires; an approver may be away for some days


class ApprovalMoves(OwnerMoves):
    """Changes of ledgers (moves) that take effect only when a second person has approved them, if a ledger needs that.

    One person requests a change, and another approves or rejects it. They are distinguished by their names, so both
    need one. In a ledger without approval, a request takes effect at once. `by` is the caller's name in every method.
    """

    def amend(
        self, tenant: str, identifier: str, request: AmendAsked, key: str, *, by: str = ""
    ) -> LedgerRow | PendingRow:
        """Change the plan of a ledger, or whether a second person must approve changes, and certify it again.

        After a commit, the request must declare that no released output influenced the new plan.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            request: items to add and to lower, the declaration, and whether a second person approves.
            key: idempotency key of the request.
            by: name of the caller.

        Returns:
            The row of the amended ledger. If a second person must approve, the row of the pending change.

        Raises:
            NotFound: this tenant has no such ledger.
            BlockHasLedger: another ledger of the same people is open.
            AwaitsApproval: a reconciliation is not approved, or too many changes are pending.
            ConditionViolated, Infeasible, LedgerClosed, InvalidInput: as `ledgers.mathematics.amending.amend_plan`.
        """
        request_key = RequestKey(tenant, by, key, fingerprint_of("amend", [identifier, request]))
        gated = GatedRequest(key=request_key, ledger=identifier, kind="amend", body=request)
        return retry(partial(self._request, gated))

    def void(
        self, tenant: str, identifier: str, request: VoidAsked, key: str, *, by: str = "", may_act: bool = True
    ) -> LedgerRow | PendingRow:
        """Take back committed runs, on the declaration that no person saw any of their outputs.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            request: the reservation, the number of runs and the declaration.
            key: idempotency key of the request.
            by: name of the caller.
            may_act: whether the caller may void runs in a ledger that needs no second person.

        Returns:
            The row of the changed ledger. If a second person must approve, the row of the pending change.

        Raises:
            NotFound: this tenant has no such ledger or reservation.
            RoleMissing: the ledger needs no second person, and `may_act` is False.
            AwaitsApproval: a reconciliation is not approved, or too many changes are pending.
            InvalidInput: fewer runs were committed, or the reservation is of another ledger.
        """
        # The fingerprint covers every member of the request.
        members = {"reservation": request.reservation, "count": request.count, "declared": request.declared}
        request_key = RequestKey(tenant, by, key, fingerprint_of("voided", [identifier, members]))
        gated = GatedRequest(key=request_key, ledger=identifier, kind="void", body=request, may_act=may_act)
        return retry(partial(self._request, gated))

    def pending(self, tenant: str, identifier: str) -> list[PendingRow]:
        """Return the changes of a ledger that wait for a second person's approval, oldest first.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The database rows of the changes, without those that were decided or have expired.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        with looking(self._database) as connection:
            self._desk.row(connection, tenant, identifier)
            return pending.live(connection, identifier, self._clock())

    def pending_move(self, tenant: str, identifier: str, move: str) -> PendingRow:
        """Return a change of a ledger that waits for a second person's approval, or that has ended.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            move: id of the change.

        Returns:
            The database row of the change.

        Raises:
            NotFound: this ledger has no such change.
        """
        with looking(self._database) as connection:
            self._desk.row(connection, tenant, identifier)
            return find_move(connection, identifier, move)

    def approve(self, tenant: str, identifier: str, move: str, *, by: str) -> PendingRow:
        """Make a requested change if the present ledger permits it. Approving an approved change has no effect.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            move: id of the change.
            by: name of the approver.

        Returns:
            The approved change.

        Raises:
            NotFound: this ledger has no such change.
            SamePerson: the approver requested the change.
            MoveEnded: it was rejected or withdrawn, or has expired.
            InvalidInput: the approver has no name.
            EpsilondError: the ledger does not permit the change now. The change stays pending.
        """
        if not normalise_person(by):
            raise InvalidInput.at("/by", "is needed: a ledger with approval records who approves")
        return retry(partial(self._approve, tenant, identifier, move, by))

    def reject(self, tenant: str, identifier: str, move: str, *, by: str, is_approver: bool = True) -> PendingRow:
        """End a change that waits for approval: its requester withdraws it, or an approver rejects it.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            move: id of the change.
            by: name of the caller.
            is_approver: whether the caller may reject changes that others requested.

        Returns:
            The ended change, withdrawn or rejected.

        Raises:
            NotFound: this ledger has no such change.
            RoleMissing: the caller is neither an approver nor the requester.
            MoveEnded: it was approved, or has expired.
            AwaitsApproval: the change is a reconciliation, which can only be approved.
        """
        return retry(partial(self._reject, tenant, identifier, move, by, is_approver))

    def request_reconciliations(self, by: str, reason: str) -> int:
        """Block every ledger with approval until a second person accepts that the log may lack entries.

        A request for the acceptance is stored for each ledger, unless it has one for the same state of the log.

        Args:
            by: name of the operator.
            reason: why the log lacks entries that it had before, as a sentence.

        Returns:
            Number of ledgers that wait.

        Raises:
            InvalidInput: there are such ledgers, and the operator has no name.
        """
        with looking(self._database) as connection:
            names = pending.ledgers_with_approval(connection)
        if names and not by:
            raise InvalidInput.at("/by", "is needed: a ledger with approval records who requests")
        return sum(retry(partial(self._request_reconciliation, name, by, reason)) for name in names)

    # Steps of the methods above.

    def _request(self, request: GatedRequest) -> LedgerRow | PendingRow:
        """Change a ledger at once or, if a second person must approve, store the change as pending.

        Args:
            request: the change, with its ledger and the idempotency key of the caller.

        Returns:
            The row of the ledger if the change was made, otherwise the row of the pending change. A repeated request
            changes nothing: it gets the present row of either.

        Raises:
            Again: another request changed the ledger, or used the idempotency key, meanwhile.
            RoleMissing, EpsilondError: as `amend` and `void`.
        """
        key = request.key
        with looking(self._database) as connection:
            answer = self._desk.find_answer(connection, key)
            states = load_states(self._desk, connection, key.tenant, request.ledger, request.body)
            row, state = states[request.ledger]
            if answer is not None and "move" in answer:
                return find_move(connection, request.ledger, answer["move"])
            if answer is not None:
                return row

        has_approval = row.approval_from is not None
        request.require_permitted(has_approval=has_approval)
        # Compute the change before the ledger is locked, because that may be slow.
        judged = judge_move(request.body, row, state, self._evaluate)

        with self._moving(states) as connection:
            if self._desk.find_answer(connection, key) is not None:
                raise Again(key.value)
            require_unblocked(connection, request.kind, row)
            if not has_approval:
                return self._write_moved(connection, key, row, judged.record, judged.after)
            body = as_json(request.body)
            now = self._clock()
            move = store_pending(connection, row, request.kind, body, by=key.by, now=now, seconds=PENDING_SECONDS)
            self._desk.keep(connection, key, {"move": move.id})
            return move

    def _approve(self, tenant: str, identifier: str, name: str, by: str) -> PendingRow:
        """Make a requested change of a ledger on behalf of its approver.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            name: id of the change.
            by: name of the approver.

        Returns:
            The approved change. A change that is approved already is returned unchanged.

        Raises:
            Again: the request expired, or others changed it or the ledger, meanwhile. The approval must be tried again.
            SamePerson, MoveEnded, NotFound, EpsilondError: as `approve`.
        """
        with looking(self._database) as connection:
            self._desk.row(connection, tenant, identifier)
            move = find_move(connection, identifier, name)
            if is_same_person(move.requested_by, by):
                message = f"{move.requested_by} requested the move, so {by} cannot approve it: another approver must."
                raise SamePerson(message)
            request = read_request(move)
            states: States = {}
            if move.state == "pending":
                states = load_states(self._desk, connection, tenant, identifier, request)
        if move.state == "approved":
            return move
        self._require_live(move)

        # The ledger may have changed since the request, so the change is computed anew on its present state.
        row, state = states[identifier]
        judged = judge_move(request, row, state, self._evaluate)
        return self._make_approved(move, by, states, judged)

    def _make_approved(self, move: PendingRow, by: str, states: States, judged: JudgedMove) -> PendingRow:
        """Write an approved change to its ledger and to the log, and return it.

        Args:
            move: the pending change.
            by: name of the approver.
            states: row and state of the ledger, from which the change was computed.
            judged: the ledger after the change, and the record of the change for the log.

        Raises:
            Again: the request has expired, or others changed it or the ledger, meanwhile.
        """
        row, _ = states[move.ledger]
        with self._moving(states) as connection:
            now = self._clock()
            if is_over(move, now):
                raise Again(move.id)
            if move.kind != "reconcile":
                require_unblocked(connection, move.kind, row)
            approved = replace(move, state="approved", closed_by=by, closed_at=now, applied=row.version + 1)
            pending.close(connection, move, approved)
            ledgers.write(connection, row, rows_after(row, judged.after))
            people = {"requested_by": move.requested_by, "approved_by": by}
            record = {**judged.record, **people, "requested_at": time_of(move.requested_at), "move": move.id}
            moved = MovedLedger(row.id, record, judged.after)
            # The record names the requester and the approver, so the key names no caller.
            self._desk.write(connection, RequestKey(row.tenant, ""), {}, [moved])
        return approved

    def _reject(self, tenant: str, identifier: str, name: str, by: str, is_approver: bool) -> PendingRow:
        """End a requested change of a ledger without making it, as a withdrawal or a rejection.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            name: id of the change.
            by: name of the caller.
            is_approver: whether the caller may reject changes that others requested.

        Returns:
            The ended change. A change that was rejected or withdrawn before is returned unchanged.

        Raises:
            Again: others changed the request meanwhile; the call must be tried again.
            RoleMissing, MoveEnded, AwaitsApproval, NotFound: as `reject`.
        """
        with self._moving({identifier: self._before(tenant, identifier)}, compared=False) as connection:
            self._desk.row(connection, tenant, identifier)
            move = find_move(connection, identifier, name)
            withdraws = is_same_person(move.requested_by, by)
            if not withdraws and not is_approver:
                raise RoleMissing("approver")
            if move.kind == "reconcile":
                message = "A reconciliation is not rejected: the ledger moves again once approved. Otherwise close it."
                raise AwaitsApproval(message)
            now = self._clock()
            if move.state in ("rejected", "withdrawn"):
                return move
            if move.state == "pending" and not is_over(move, now):
                ended = replace(move, state="withdrawn" if withdraws else "rejected", closed_by=by, closed_at=now)
                pending.close(connection, move, ended)
                return ended
        self._require_live(move)  # raises, because the move was approved or has expired
        raise Again(name)

    def _request_reconciliation(self, identifier: str, by: str, reason: str) -> bool:
        """Block a ledger with approval until an approver accepts a log that may lack entries.

        The ledger gets a pending reconciliation, unless it has one for the same head of the log (number of entries and
        Merkle root).

        Args:
            identifier: id of the ledger.
            by: name of the operator.
            reason: why the log does not continue a known head, as a sentence.

        Returns:
            Whether the ledger waits for approval. False if it needs no approval, so that nothing was stored.
        """
        row, state = self._row(identifier)
        with self._moving({identifier: (row, state)}) as connection:
            if row.approval_from is None:
                return False
            # A second request for the same head would only have to be approved twice.
            head = self._desk.present_head(connection)
            root = to_base64(head.root)
            live_moves = pending.live(connection, identifier, self._clock())
            bodies = [json.loads(move.body) for move in live_moves if move.kind == "reconcile"]
            requested_heads = [(pending_body["size"], pending_body["root"]) for pending_body in bodies]
            if (head.size, root) not in requested_heads:
                body = {"size": head.size, "root": root, "reason": reason}
                store_pending(connection, row, "reconcile", body, by=by, now=self._clock(), seconds=None)
            return True

    def _require_live(self, move: PendingRow) -> None:
        """Check that a change still waits for approval. If its time has passed, it is stored as expired.

        Args:
            move: the change as it was read. It may have expired since it was stored.

        Raises:
            MoveEnded: the change has expired, or was approved, rejected or withdrawn.
        """
        if is_over(move, self._clock()):
            expired = replace(move, state="expired", closed_at=self._clock())
            states = {move.ledger: self._row(move.ledger)}
            with suppress(Again), self._moving(states, compared=False) as connection:
                pending.close(connection, move, expired)
            move = expired
        if move.state == "expired":
            raise MoveEnded("The move has expired: request it again.")
        if move.state != "pending":
            raise MoveEnded(f"The move was {move.state} by {move.closed_by}.")

    def _row(self, identifier: str) -> tuple[LedgerRow, LedgerState]:
        """Return the row and the state of a ledger. The state has only the reservations with uncommitted runs."""
        with looking(self._database) as connection:
            return self._desk.states(connection, None, [identifier])[identifier]
