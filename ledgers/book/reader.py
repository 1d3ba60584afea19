"""Reading of ledgers, their entries and their owners; no budget is changed here."""

from __future__ import annotations

import time
from collections.abc import Callable

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.book.contradictions import contradictions_of, mark_commit
from epsilond.ledgers.book.errors import NotReconciled
from epsilond.ledgers.book.logged.entries import entry
from epsilond.ledgers.book.owning import require_movable, require_setting
from epsilond.ledgers.book.published import PublishedLog
from epsilond.ledgers.book.reports import written
from epsilond.ledgers.book.states import state_from
from epsilond.ledgers.log.receipts import Receipt
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.requests import JobAsked, Order
from epsilond.ledgers.store import entries, ledgers, owners, reservations
from epsilond.ledgers.store.balances import find_imbalance
from epsilond.ledgers.store.figures import LedgerFigures, figures
from epsilond.ledgers.store.names import normalise, skeleton_of
from epsilond.ledgers.store.owners import Collision
from epsilond.ledgers.store.records import LedgerRow, ReservationRow
from epsilond.ledgers.store.transactions import Again, looking

MOST_RECEIPTS = 20
"""Largest number of receipts of one reservation in an answer: those of its newest commits."""
TRIES = 20
"""Largest number of attempts to assign organisations while other processes move ledgers."""


class BookReader(PublishedLog):
    """Reader of the ledgers of organisations, of their log entries and of their owners.

    A ledger is a privacy budget of a data set. A tenant is the organisation that owns it, and others may not see it.
    No method changes a budget.
    """

    def assign_organisations(self, organisation_of: Callable[[str], str | None]) -> list[Collision]:
        """Assign each ledger without an organisation to the organisation of the caller who opened it.

        Args:
            organisation_of: returns the organisation of the caller with a given name. If it returns None, the caller's
                ledgers do not change.

        Returns:
            The groups of ledgers that cover the same people of one organisation.

        Raises:
            Again: other processes changed ledgers during each of `TRIES` attempts. Nothing was assigned.
        """
        for attempt in range(TRIES):
            try:
                with self._database.writing() as connection:
                    owners.assign(connection, organisation_of)
                break
            except Again:
                if attempt == TRIES - 1:
                    raise
                time.sleep(0.05)
        with looking(self._database) as connection:
            return owners.collisions(connection)

    def has_free(self, opened_by: str) -> bool:
        """Return whether a caller opened a ledger of no organisation, or of the organisation with the empty name.

        Args:
            opened_by: name of the caller.
        """
        with looking(self._database) as connection:
            return owners.has_free(connection, opened_by)

    def figures(self, *, limit: int) -> LedgerFigures:
        """Return operational figures of the ledgers of all organisations.

        Args:
            limit: largest number of ledgers that are listed by their ids.
        """
        with looking(self._database) as connection:
            return figures(connection, limit=limit)

    def colliding(self, *identifiers: str) -> dict[str, list[tuple[str, bool]]]:
        """Return the other ledgers that cover the same people in the same organisation.

        Args:
            identifiers: ids of ledgers.

        Returns:
            For each ledger with such others: their ids, each with whether it is open.
        """
        with looking(self._database) as connection:
            rows = ledgers.load(connection, *identifiers)
            others_by_ledger = {name: owners.colliding(connection, row) for name, row in rows.items()}
        return {name: others for name, others in others_by_ledger.items() if others}

    def near_names(self, row: LedgerRow) -> list[str]:
        """Return other names of data sets and blocks that are easily confused with a ledger's names.

        They differ only in spaces, hyphens, underscores and dots, or in forms of letters such as full-width ones.

        Args:
            row: rows of the ledger.

        Returns:
            Names of the owner's other data sets and of this data set's blocks, sorted.
        """
        with looking(self._database) as connection:
            pairs = owners.names_of(connection, row.tenant)  # of a data set and a block
        names = {dataset for dataset, _ in pairs if _is_near(dataset, row.dataset)}
        if row.block:
            # Only blocks of the same data set can be confused with this one.
            own_dataset = normalise(row.dataset)
            blocks = [block for dataset, block in pairs if block and normalise(dataset) == own_dataset]
            names |= {block for block in blocks if _is_near(block, row.block)}
        return sorted(names)

    def unbalanced_ledgers(self) -> list[str]:
        """Compare the database rows of every ledger with its log entries, and describe each difference.

        The newest entry has a digest of the balance. If an earlier version wrote it without one, all entries are
        replayed.

        Returns:
            One sentence for each ledger that differs from its log entries; empty if none does.
        """
        with looking(self._database) as connection:
            identifiers = ledgers.identifiers(connection)
        checked = (self._imbalance_of(identifier) for identifier in identifiers)
        return [sentence for sentence in checked if sentence is not None]

    def _imbalance_of(self, identifier: str) -> str | None:
        """Return a sentence if the database rows of a ledger differ from its log entries; None if they agree.

        A difference shows that the rows were changed without an entry. If the newest entry of the ledger has no digest,
        all its entries are replayed.

        Args:
            identifier: id of the ledger, of any tenant.

        Returns:
            The sentence; None if rows and entries agree.
        """
        with looking(self._database) as connection:
            try:
                _, state = self._desk.states(connection, None, [identifier])[identifier]
            except NotReconciled as trouble:
                return str(trouble)
            return find_imbalance(connection, identifier, state)

    def log_entries(self, tenant: str, *, start: int = 0, limit: int = 1000) -> list[JsonRecord]:
        """Return log entries of all ledgers of a tenant, in the order of the log.

        A commit has the member `contradicted` next to the signed members if an observation concerns its reservation.
        The observation is that a run differed from its mechanism.

        Args:
            tenant: owner of the ledgers.
            start: number in the log from which entries are returned.
            limit: largest number of entries.

        Returns:
            The entries as JSON objects.
        """
        with looking(self._database) as connection:
            page = entries.page(connection, start=start, limit=limit, organisation=tenant)
            names = {row.ledger for row in page if row.ledger is not None}
            contradictions = {name: contradictions_of(self._desk.row(connection, tenant, name)) for name in names}
            return [mark_commit(entry(row), contradictions.get(row.ledger or "", ())) for row in page]

    def ledger(self, tenant: str, identifier: str) -> LedgerRow:
        """Return the rows of a ledger.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The rows of the ledger: its names, target, plan and balances.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        with looking(self._database) as connection:
            return self._desk.row(connection, tenant, identifier)

    def state(self, tenant: str, identifier: str) -> LedgerState:
        """Return the state of a ledger, with all its reservations.

        The state is computed from the database rows. It has the plan, the slots (budgets for other runs) and the
        reservations.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The state, with all reservations.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        _, state = self.row_and_state(tenant, identifier)
        return state

    def sole_state(self, tenant: str, identifier: str) -> LedgerState:
        """Return the state of a ledger, after checking that nothing blocks it.

        If two ledgers cover the same people, one of them may be used only if it is open and the other is closed.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The state, with all reservations of the ledger.

        Raises:
            NotFound: this tenant has no such ledger.
            BlockHasLedger: another ledger of the same people is open, or this ledger is closed and not the only one.
            AwaitsApproval: a reconciliation of the ledger waits for a second person.
        """
        with looking(self._database) as connection:
            row = self._desk.row(connection, tenant, identifier)
            require_movable(connection, [row])
            return state_from(row, reservations.of_ledger(connection, identifier))

    def asked_of(self, tenant: str, identifier: str, job: JobAsked) -> LedgerState:
        """Return the state of a ledger, for a computation of the cost of a job.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            job: the job. It may name a neighbouring relation and a protected unit, which must be the ledger's own.

        Returns:
            The state of the ledger: its target, plan, slots (budgets for unplanned runs) and reservations.

        Raises:
            NotFound, BlockHasLedger, AwaitsApproval: in the cases of `sole_state`.
            InvalidInput: the job names another relation or unit than the ledger's.
        """
        state = self.sole_state(tenant, identifier)
        require_setting(state, job)
        return state

    def row_and_state(self, tenant: str, identifier: str) -> tuple[LedgerRow, LedgerState]:
        """Return the rows and the state of a ledger, read at the same moment.

        The state has all reservations of the ledger, on which changes can be computed.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The rows, and the state.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        with looking(self._database) as connection:
            row = self._desk.row(connection, tenant, identifier)
            return row, state_from(row, reservations.of_ledger(connection, identifier))

    def ledgers(self, tenant: str, *, limit: int = 100, after: str | None = None) -> list[LedgerRow]:
        """Return ledgers of a tenant in the order in which they were opened.

        Args:
            tenant: owner of the ledgers.
            limit: largest number of ledgers to return.
            after: id of the ledger after which the list starts; None means the first.

        Returns:
            The rows of at most `limit` ledgers.
        """
        with looking(self._database) as connection:
            start = None if after is None else self._desk.row(connection, tenant, after)
            return ledgers.page(connection, tenant, limit=limit, after=start)

    def entries(
        self,
        tenant: str,
        identifier: str,
        *,
        start: int | None = None,
        limit: int = 1000,
        order: Order = "oldest",
    ) -> list[JsonRecord]:
        """Return log entries of a ledger, in the order of the log or backwards.

        A commit has the member `contradicted` next to the signed members if an observation concerns its reservation.
        The observation is that a run differed from its mechanism.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.
            start: number in the log at which the list starts; None means the first, or the newest.
            limit: largest number of entries to return.
            order: whether the oldest or the newest entries come first.

        Returns:
            The entries as JSON objects.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        with looking(self._database) as connection:
            contradictions = contradictions_of(self._desk.row(connection, tenant, identifier))
            rows = entries.page(connection, start=start, limit=limit, ledger=identifier, order=order)
            return [mark_commit(entry(row), contradictions) for row in rows]

    def reservation(self, tenant: str, identifier: str) -> ReservationRow:
        """Return a reservation of runs, without the receipts of its commits.

        A reservation holds runs for one caller in one or several ledgers.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.

        Returns:
            The rows of the reservation.

        Raises:
            NotFound: this tenant has no such reservation.
        """
        with looking(self._database) as connection:
            return self._desk.load_reservation(connection, tenant, identifier)

    def contradicting_ledgers(self, held: ReservationRow) -> list[str]:
        """Return the ids of a reservation's ledgers in which a run of it was observed to differ from its mechanism.

        Args:
            held: the reservation.
        """
        with looking(self._database) as connection:
            return self._desk.contradicting_ledgers(connection, held)

    def receipts(self, tenant: str, identifier: str) -> list[Receipt]:
        """Return receipts of the newest commits of a reservation, the oldest first.

        Args:
            tenant: owner of the ledgers.
            identifier: id of the reservation.

        Returns:
            At most `MOST_RECEIPTS` receipts. Empty if there are no commits, and also if runs of the reservation were
            declared void or observed to differ from their mechanism, because no run may begin then.

        Raises:
            NotFound: this tenant has no such reservation.
            NotReconciled: the log lacks entries that it had before.
            HeadUnavailable: the file with a head outside the database cannot be read.
        """
        with self._continuous_log() as connection:
            held = self._desk.load_reservation(connection, tenant, identifier)
            has_commits = any(holding.committed for holding in held.holdings)
            if not has_commits or self._desk.was_voided(connection, held):
                return []
            if self._desk.contradicting_ledgers(connection, held):
                return []

            # All receipts are proofs for one head, that of the present log.
            newest_commits = self._desk.commits(connection, held)[-MOST_RECEIPTS:]
            size = self._signed_size(connection)
            return [self._desk.receipt(connection, row, size) for row in newest_commits]

    def written(self, tenant: str, identifier: str) -> JsonRecord:
        """Summarise the log entries of a ledger.

        Args:
            tenant: owner of the ledger.
            identifier: id of the ledger.

        Returns:
            The number of entries of each kind and in all, and the numbers of the first and the last entry in the log.

        Raises:
            NotFound: this tenant has no such ledger.
        """
        with looking(self._database) as connection:
            self._desk.row(connection, tenant, identifier)
            kinds = entries.count_kinds(connection, identifier)
        counts = {kind: entries_of_kind.entries for kind, entries_of_kind in kinds.items()}
        first = min(entries_of_kind.first for entries_of_kind in kinds.values())
        last = max(entries_of_kind.last for entries_of_kind in kinds.values())
        return written(counts, first, last)


def _is_near(name: str, own_name: str) -> bool:
    """Return whether two names are easily confused: they differ, but not in the form that `skeleton_of` returns.

    Args:
        name: name of a data set or block.
        own_name: the name that it is compared with.
    """
    return normalise(name) != normalise(own_name) and skeleton_of(name) == skeleton_of(own_name)
