"""The hashes of a tree in memory: for a log that is verified, and for one that nobody has to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from epsilond.ledgers.log.tree import Node


@dataclass
class MemoryNodes:
    """`tree.Nodes` that last as long as this object."""

    _hashes: dict[Node, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._hashes)

    def read(self, wanted: Iterable[Node]) -> Mapping[Node, bytes]:
        """The hashes of these nodes; those that are not there are left out."""
        return {node: self._hashes[node] for node in wanted if node in self._hashes}

    def write(self, hashes: Mapping[Node, bytes]) -> None:
        """Keep hashes of nodes that were not there.

        Raises:
            ValueError: one of them is there already; nothing is written.
        """
        if not self._hashes.keys().isdisjoint(hashes):
            raise ValueError("a stored hash never changes")
        self._hashes.update(hashes)
