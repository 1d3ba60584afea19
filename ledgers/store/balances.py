"""The check of ledgers' rows against the log, which reveals rows that were changed outside a move."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.proofs import Inclusion
from epsilond.ledgers.log.tree import NodesMissing, Tree
from epsilond.ledgers.mathematics.balance import BALANCE, digest_of
from epsilond.ledgers.mathematics.replay import DoesNotReplay, replay_entries
from epsilond.ledgers.mathematics.state import JOB, LedgerState
from epsilond.ledgers.store import entries, owners
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import EntryRow, LedgerRow, ReservationRow
from epsilond.ledgers.store.specs import spec_of, text_of
from epsilond.witness.reports.canonical import canonical, digest

MISPLACED = "The ledger {} is not with the organisation, the data set and the block that it was opened for."
"""Sentence about a ledger that a search for ledgers of the same people would miss."""
MOST_OPENINGS = 100_000
"""Largest number of ledgers whose opening is stored as checked: some ten megabytes."""
LARGEST_LOG = 10_000_000
"""Largest number of entries of one ledger that are replayed."""


def _is_in_tree(row: EntryRow, tree: Tree) -> bool:
    """Return whether the entry in a database row agrees with the Merkle tree of the log.

    The tree's hashes depend on the content and the number of each entry. A changed row does not agree with them.

    Args:
        row: the entry with its number in the log.
        tree: the Merkle tree.

    Returns:
        True if the hash of the entry is the one in the tree.
    """
    try:
        Inclusion.of(tree, row.seq).verify(row.leaf, tree.root())
    except (NotVerified, NodesMissing, ValueError):
        return False
    return True


class Balances:
    """Comparison of the rows of ledgers with the log. Every method may be called in any thread.

    Each log entry has a digest of its ledger's balance, so that a row that was changed by SQL is noticed.
    """

    def __init__(self) -> None:
        # Ledgers whose opening was compared: pairs of an id and the digest of the opening in the row.
        self._openings = set[tuple[str, str]]()

    def wrong(self, connection: Connection, ledgers: Mapping[str, tuple[LedgerRow, LedgerState]]) -> dict[str, str]:
        """Find the ledgers with database rows that differ from the log.

        The balance of each ledger is compared with the digest in its newest entry. Entries of an earlier version have
        no digest. The opening, the owner and the names of each ledger are compared, too.

        Args:
            connection: connection on which the ledgers were read.
            ledgers: rows and state of each ledger by its id, with at least the reservations with uncommitted runs.

        Returns:
            A sentence about the difference for each such ledger, by its id.
        """
        newest = entries.newest(connection, ledgers)
        tree = Tree(StoredNodes(connection), entries.size(connection))
        differences = {}
        for name, (row, state) in ledgers.items():
            difference = _compare_balance(tree, row, state, newest.get(name))
            if difference is None:
                difference = self._compare_opening(connection, tree, row)
            if difference is not None:
                differences[name] = difference
        misplaced = owners.find_misplaced(connection, identifiers=ledgers)
        return differences | {name: MISPLACED.format(name) for name in misplaced}

    def _compare_opening(self, connection: Connection, tree: Tree, row: LedgerRow) -> str | None:
        """Compare the members of a ledger's row that never change with its first log entry.

        They are the names of the ledger and the record of its opening. A difference shows that the row was changed by
        other means than the service. An unchanged row is compared only once in a process.

        Args:
            connection: connection on which the row was read.
            tree: Merkle tree of the log.
            row: rows of the ledger.

        Returns:
            A sentence about the difference, or None if there is none.
        """
        opening = json.loads(row.record) | {"dataset": row.dataset, "block": row.block, "name": row.name}
        renyi_orders = [part.part for part in row.parts if part.kind == "rdp"]
        key = row.id, digest(canonical([opening, renyi_orders]))
        if key in self._openings:
            return None

        # The first entry must be in the Merkle tree, and have the members of the row.
        (first,) = entries.page(connection, ledger=row.id, limit=1)
        if not _is_in_tree(first, tree):
            return f"Entry {first.seq} of the ledger {row.id} is not the one that is in the log's tree."
        entry = json.loads(first.leaf)
        is_same = all(entry.get(name) == value for name, value in opening.items())
        # The Rényi orders are sorted in every version that writes balances. Unsorted orders would get wrong weights.
        has_wrong_orders = BALANCE in entry and renyi_orders != sorted(renyi_orders)
        if not is_same or has_wrong_orders:
            return f"The ledger {row.id} was not opened as its row says: its first entry is {first.seq}."

        # The memory for comparisons is bounded.
        if len(self._openings) >= MOST_OPENINGS:
            self._openings.clear()
        self._openings.add(key)
        return None


def _compare_balance(tree: Tree, ledger: LedgerRow, state: LedgerState, row: EntryRow | None) -> str | None:
    """Compare the balance of a ledger with its newest log entry.

    Each entry contains a digest of the balance (the used and reserved budget) after its change. A row that was changed
    by SQL gives another digest.

    Args:
        tree: Merkle tree of the log.
        ledger: rows of the ledger.
        state: state of the ledger, with at least the reservations with uncommitted runs.
        row: newest entry of the ledger; None if the log has none.

    Returns:
        A sentence about the difference. None if there is none, or if the entry has no balance.
    """
    if row is None:
        return f"The log has no entry of the ledger {ledger.id}."
    if not _is_in_tree(row, tree):
        return f"Entry {row.seq} of the ledger {ledger.id} is not the one that is in the log's tree."
    entry = json.loads(row.leaf)
    if BALANCE not in entry:
        return None
    if entry[BALANCE] != digest_of(state, text_of):
        return f"The balance of the ledger {ledger.id} in the database differs from its newest entry, {row.seq}."
    # The digest does not determine which reservation an item belongs to, so the item's name is compared.
    if any(item.job != _job_of(item.name) for item in state.plan):
        return f"An item of the ledger {ledger.id} has another reservation than the one in its name."
    return None


def _job_of(item: str) -> str | None:
    """Return the id of the reservation in the name of an item that was made for a whole job.

    Args:
        item: name of an item of a ledger's plan.

    Returns:
        The id; None for an item of the plan itself.
    """
    if not item.startswith(JOB):
        return None
    return item.removeprefix(JOB)


def find_misread(connection: Connection, ledger: str, reservation: ReservationRow) -> str | None:
    """Compare a reservation with the log entries of one of its ledgers, before runs of it are declared void.

    The check is needed because the digest of a ledger's balance covers only reservations with uncommitted runs.

    Args:
        connection: connection on which the reservation was read.
        ledger: id of the ledger.
        reservation: the reservation, which holds runs in the ledger.

    Returns:
        A sentence that the row differs from the entries, or None if it does not.
    """
    holding = next(candidate for candidate in reservation.holdings if candidate.ledger == ledger)
    rows = entries.page(connection, ledger=ledger, limit=LARGEST_LOG)
    entries_of_ledger = [json.loads(row.leaf) for row in rows]
    own_entries = [entry for entry in entries_of_ledger if entry.get("reservation") == reservation.id]

    has_same_count = _count_runs(own_entries, "reserved") == holding.count
    has_same_commits = _count_runs(own_entries, "committed") == holding.committed
    charges = [entry["charge"] for entry in own_entries if "charge" in entry]
    last_charge = charges[-1] if charges else None
    stored_charge = None if holding.charge is None else json.loads(holding.charge)
    has_same_charge = stored_charge == last_charge

    # The first commit of some jobs creates an item for the job, which no entry names.
    logged_item = next((entry["item"] for entry in own_entries if "item" in entry), None)
    has_own_item = holding.slot is not None and holding.item == f"{JOB}{reservation.id}"
    has_same_item = has_own_item or holding.item == logged_item
    if has_same_count and has_same_commits and has_same_charge and has_same_item:
        return None
    return f"The reservation {reservation.id} is not what the entries of the ledger {ledger} say."


def _count_runs(records: Sequence[JsonObject], kind: str) -> int:
    """Return the number of runs in all log entries of a kind.

    Args:
        records: JSON objects of the entries.
        kind: kind of the entries, such as `committed`.

    Returns:
        The sum of the numbers of runs.
    """
    return sum(record["count"] for record in records if record["kind"] == kind)


def find_imbalance(connection: Connection, ledger: str, state: LedgerState) -> str | None:
    """Compare the stored state of a ledger with the state that its log entries give, by replaying all of them.

    This is only for ledgers of an earlier version. If the newest entry has a digest of the state (a balance), nothing
    is computed, because `Balances.wrong` compares this digest.

    Args:
        connection: connection on which the ledger was read.
        ledger: id of the ledger.
        state: state of the ledger, with at least the reservations with uncommitted runs.

    Returns:
        A sentence about the difference, or None if there is none.
    """
    rows = entries.page(connection, ledger=ledger, limit=LARGEST_LOG)
    records = [json.loads(row.leaf) for row in rows]
    if BALANCE in records[-1]:
        return None
    try:
        expected_digest = digest_of(replay_entries(records, spec_of, text_of, certify=False), text_of)
    except DoesNotReplay as error:
        return f"The entries of the ledger {ledger} do not follow from each other: {error}."
    if expected_digest != digest_of(state, text_of):
        return f"The balance of the ledger {ledger} in the database is not the one that its entries give."
    return None
