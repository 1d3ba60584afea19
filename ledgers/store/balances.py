"""The check of ledgers' rows against the log: a row that something other than a move has changed is noticed."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import Connection

from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.proofs import Inclusion
from epsilond.ledgers.log.tree import NodesMissing, Tree
from epsilond.ledgers.mathematics.balance import BALANCE, digest_of
from epsilond.ledgers.mathematics.replay import DoesNotReplay, replayed
from epsilond.ledgers.mathematics.state import LedgerState
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import EntryRow
from epsilond.ledgers.store.specs import spec_of, text_of

LARGEST_LOG = 10_000_000
"""Largest number of entries of one ledger that are played again."""


def imbalances(connection: Connection, states: Mapping[str, LedgerState]) -> dict[str, str]:
    """Return a sentence for each ledger that is not what its newest entry says, by its id.

    The newest entry of an earlier version has no balance; its ledger is not compared here.

    Args:
        connection: on which the ledgers were read.
        states: ledgers by their ids, with every reservation that still holds something.
    """
    newest = entries.newest(connection, states)
    tree = Tree(StoredNodes(connection), entries.size(connection))
    checked = {name: _imbalance(tree, name, state, newest.get(name)) for name, state in states.items()}
    return {name: sentence for name, sentence in checked.items() if sentence is not None}


def _imbalance(tree: Tree, ledger: str, state: LedgerState, row: EntryRow | None) -> str | None:
    """Return why a ledger is not what its newest entry says; None where it is."""
    if row is None:
        return f"The log has no entry of the ledger {ledger}."
    try:
        Inclusion.of(tree, row.seq).verify(row.leaf, tree.root())
    except (NotVerified, NodesMissing, ValueError):
        return f"Entry {row.seq} of the ledger {ledger} is not the one that is in the log's tree."
    balance = json.loads(row.leaf).get(BALANCE)
    if balance is not None and balance != digest_of(state, text_of):
        return f"The balance of the ledger {ledger} in the database is not that of its newest entry, {row.seq}."
    return None


def unplayed(connection: Connection, ledger: str, state: LedgerState) -> str | None:
    """Return why a ledger is not what its entries give, as a sentence; None where it is, or its newest entry says so.

    Args:
        connection: on which the ledger was read.
        ledger: its id.
        state: its state, with every reservation that still holds something.
    """
    rows = entries.page(connection, ledger=ledger, limit=LARGEST_LOG)
    records = [json.loads(row.leaf) for row in rows]
    if BALANCE in records[-1]:
        return None
    try:
        wanted = digest_of(replayed(records, spec_of, text_of, certify=False), text_of)
    except DoesNotReplay as error:
        return f"The entries of the ledger {ledger} do not follow from each other: {error}."
    if wanted != digest_of(state, text_of):
        return f"The balance of the ledger {ledger} in the database is not the one that its entries give."
    return None
