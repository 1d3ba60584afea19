"""Nodes of the log's Merkle tree as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from sqlalchemy import Connection, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from epsilond.ledgers.store.tables import NODES

Node = TypeVar("Node", bound=tuple[int, int])
"""Level and place of the perfect subtree over the leaves place·2^level, …, (place + 1)·2^level − 1."""


class StoredNodes:
    """The hashes of the log's Merkle tree in the database, within one transaction.

    The Merkle tree commits to all entries of the log of ledgers. A node is identified by its level above the leaves and
    its place within the level. Hashes that were read or written are cached, because a node never changes.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[int, int], bytes] = {}

    def read_hashes(self, wanted: Iterable[Node]) -> dict[Node, bytes]:
        """Return the hashes of nodes, from the cache or the database.

        Args:
            wanted: the nodes, each a pair of a level and a place.

        Returns:
            The hash of each stored node, 32 bytes. Nodes that are not stored are left out.
        """
        nodes = list(wanted)
        unknown = [(level, place) for level, place in nodes if (level, place) not in self._known]
        if unknown:
            query = select(NODES).where(tuple_(NODES.c.level, NODES.c.place).in_(unknown))
            for row in self._connection.execute(query):
                self._known[row.level, row.place] = row.hash
        return {node: self._known[node] for node in nodes if node in self._known}

    def write(self, hashes: Mapping[Node, bytes]) -> None:
        """Store the hashes of new nodes of the log's Merkle tree.

        Args:
            hashes: the hash of each node (level, place), 32 bytes.

        Raises:
            ValueError: the store has one of the nodes already, or a value does not have 32 bytes. The transaction must
                then be rolled back.
        """
        if not hashes:
            return
        rows = [{"level": level, "place": place, "hash": value} for (level, place), value in hashes.items()]
        try:
            self._connection.execute(insert(NODES), rows)
        except IntegrityError:
            raise ValueError("a node of the log's tree exists already, or is malformed") from None
        self._known.update(hashes.items())
