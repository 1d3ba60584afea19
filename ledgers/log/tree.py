"""Merkle tree of RFC 9162, section 2.1: it only grows, and its root depends on every byte of every leaf.

The store has the hashes of perfect subtrees, which never change once they are complete. Node (level, place) is the root
over the leaves place·2^level, …, (place + 1)·2^level − 1, and level 0 has the hashes of the leaves. A tree of n leaves
has fewer than 2n nodes. To append, to compute a root or to make a proof, at most 2·log₂ n + 2 nodes are read, in one
call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, Protocol

HASH_BYTES: Final = 32
"""Number of bytes of a hash, which is SHA-256."""
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Root of the tree without leaves: the hash of the empty string (RFC 9162, section 2.1.1)."""


class Node(NamedTuple):
    """Perfect subtree of a Merkle tree, with 2^level leaves.

    Its leaves have the indices place · 2^level, …, (place + 1) · 2^level − 1, counted from 0.

    Attributes:
        level: height of the subtree, 0 for a single leaf.
        place: index of the subtree among those of its level, from 0.
    """

    level: int
    place: int

    @property
    def is_right_child(self) -> bool:
        """True if the subtree is the right half of the next larger perfect subtree."""
        return self.place % 2 == 1

    @property
    def parent(self) -> Node:
        """The next larger perfect subtree, of which this subtree is one half."""
        return Node(self.level + 1, self.place // 2)


class HashStore(Protocol):
    """Store of the hashes of a Merkle tree's nodes, that is, of its perfect subtrees with 2^level leaves.

    A tree that grows by new leaves keeps its perfect subtrees, so that each hash is computed and written once.
    """

    def read_hashes(self, wanted: Iterable[Node]) -> Mapping[Node, bytes]:
        """Return the hashes of nodes. Nodes that are not stored are left out.

        Args:
            wanted: the nodes, each a pair of a level and a place.
        """

    def write(self, hashes: Mapping[Node, bytes]) -> None:
        """Store hashes of nodes that are not in the store.

        Args:
            hashes: hash of each node, 32 bytes.

        Raises:
            ValueError: one of them is there already.
        """


@dataclass
class MemoryNodes:
    """Store of the hashes of a Merkle tree in the memory of this process.

    It suits the verification of a log, for which nothing is kept afterwards. A node is a perfect subtree of 2^level
    leaves.
    """

    _hashes: dict[Node, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._hashes)

    def read_hashes(self, wanted: Iterable[Node]) -> Mapping[Node, bytes]:
        """Return the hashes of nodes. Nodes that are not stored are left out.

        Args:
            wanted: the nodes, each a pair of a level and a place.

        Returns:
            The hash of each stored node, by node.
        """
        return {node: self._hashes[node] for node in wanted if node in self._hashes}

    def write(self, hashes: Mapping[Node, bytes]) -> None:
        """Store hashes of nodes, as `HashStore.write` does.

        Args:
            hashes: hash of each node, by node.

        Raises:
            ValueError: one of the nodes is stored already. Nothing is written then.
        """
        if not self._hashes.keys().isdisjoint(hashes):
            raise ValueError("a stored hash never changes")
        self._hashes.update(hashes)


class NodesMissing(LookupError):
    """The stored hashes are not those of a tree of this size: the store is damaged, or of another tree."""


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf of a Merkle tree: SHA-256 of the byte 0x00 and the leaf (RFC 9162).

    The prefix distinguishes leaves from inner nodes, so that no inner node passes for a leaf.

    Args:
        leaf: content of the leaf.

    Returns:
        The hash, 32 bytes.
    """
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node of a Merkle tree, from the hashes of its two children.

    This is the rule of RFC 9162, section 2.1.1. The prefix distinguishes inner nodes from leaves.

    Args:
        left: hash of the left child, 32 bytes.
        right: hash of the right child, 32 bytes.

    Returns:
        The hash, 32 bytes.
    """
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True)
class Tree:
    """Merkle tree (RFC 9162) of the first `size` leaves of a log.

    Attributes:
        nodes: store of the hashes. It may also have the hashes of later leaves, which this tree does not use.
        size: number of leaves.
    """

    nodes: HashStore
    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a tree has at least 0 leaves")

    def extend(self, leaves: Iterable[bytes]) -> Tree:
        """Append leaves, write all new hashes to the store in one call, and return the larger tree.

        A perfect subtree has 2^k leaves. It gets its hash as soon as it is complete, and the hash never changes.

        Args:
            leaves: contents of the new leaves, in order.

        Returns:
            The larger tree with the same store. This tree is unchanged.

        Raises:
            ValueError: the store has another leaf at one of these indices already.
            NodesMissing: the store lacks hashes of this tree.
        """
        # The present tree is a row of perfect subtrees, the largest first. Only their roots, the peaks, are needed.
        peaks = list(_perfect_subtrees(0, self.size))
        stored = self._read_all(peaks)
        # Perfect subtrees that are not yet the left child of a stored node, largest first, with their hashes.
        open_subtrees = [(peak, stored[peak]) for peak in peaks]
        new_hashes: dict[Node, bytes] = {}
        size = self.size
        for leaf in leaves:
            node = Node(0, size)
            value = leaf_hash(leaf)
            new_hashes[node] = value
            while node.is_right_child:  # its left sibling is the last open subtree, so their parent is complete now
                _, left_hash = open_subtrees.pop()
                node = node.parent
                value = node_hash(left_hash, value)
                new_hashes[node] = value
            open_subtrees.append((node, value))
            size += 1
        self.nodes.write(new_hashes)
        return Tree(self.nodes, size)

    def root(self) -> bytes:
        """Return the root hash of this tree, 32 bytes.

        It is MTH(D_n) of RFC 9162, section 2.1.1, with D_n the n = `size` leaves of this tree.

        Returns:
            The hash. The empty tree has the hash of the empty string.

        Raises:
            NodesMissing: the store lacks hashes of this tree.
        """
        if self.size == 0:
            return EMPTY_ROOT
        (root,) = self._roots([(0, self.size)])
        return root

    def inclusion(self, index: int) -> tuple[bytes, ...]:
        """Return the proof that a leaf is in this tree: the hashes that lead from the leaf to the root.

        This is PATH(index, D_n) of RFC 9162, section 2.1.3.1, with D_n the n = `size` leaves of this tree. The range of
        all leaves is halved until only the leaf is left. Each step adds the root of the half without the leaf.

        Args:
            index: index of the leaf, from 0.

        Returns:
            Hashes of subtrees, the sibling of the leaf first and the child of the root last.

        Raises:
            ValueError: the tree has no such leaf.
            NodesMissing: the store lacks hashes of this tree.
        """
        if not 0 <= index < self.size:
            raise ValueError(f"the tree of {self.size} leaves has no leaf {index}")
        # Go down from the root to the leaf. In each step, `siblings` gets the half of the range without the leaf.
        siblings: list[tuple[int, int]] = []
        start = 0
        end = self.size
        while end - start > 1:
            middle = start + _left_size(end - start)
            if index < middle:
                siblings.append((middle, end))
                end = middle
            else:
                siblings.append((start, middle))
                start = middle
        from_leaf_to_root = siblings[::-1]
        return self._roots(from_leaf_to_root)

    def consistency(self, earlier: int) -> tuple[bytes, ...]:
        """Return the proof that an earlier tree is the beginning of this one.

        This is PROOF(m, D_n) of RFC 9162, section 2.1.4.1, with m = `earlier` and D_n the n = `size` leaves of this
        tree. The range of leaves that holds the last leaf of the earlier tree is halved until it ends with that leaf.
        Each step adds the root of the half that was left.

        Args:
            earlier: number of leaves of the earlier tree, m.

        Returns:
            Hashes of subtrees, the smallest subtree first. Empty if nothing must be shown, because the earlier tree is
            empty or is this tree.

        Raises:
            ValueError: the tree never had so many leaves.
            NodesMissing: the store lacks hashes of this tree.
        """
        if not 0 <= earlier <= self.size:
            raise ValueError(f"the tree of {self.size} leaves never had {earlier}")
        if earlier in {0, self.size}:
            return ()
        # Go down from the root to a range that ends with the last leaf of the earlier tree.
        siblings: list[tuple[int, int]] = []
        start = 0
        end = self.size
        while end != earlier:
            middle = start + _left_size(end - start)
            if earlier <= middle:
                siblings.append((middle, end))
                end = middle
            else:
                siblings.append((start, middle))
                start = middle
        if start > 0:  # with start = 0 this range is the whole earlier tree: the verifier has its root
            siblings.append((start, end))
        from_leaf_to_root = siblings[::-1]
        return self._roots(from_leaf_to_root)

    def _roots(self, ranges: Iterable[tuple[int, int]]) -> tuple[bytes, ...]:
        """Return the Merkle root hash of each of several ranges of leaves, with one call of the store.

        A range is divided into perfect subtrees (2^level leaves), which have stored hashes. All hashes are read at
        once, because each call may be a query of a database.

        Args:
            ranges: pairs (start, end) of the leaves start, …, end − 1. A power of two that is at least end − start must
                divide start, so that the range is a subtree of RFC 9162.

        Returns:
            The root hashes, 32 bytes each, in the order of the ranges.

        Raises:
            NodesMissing: the store lacks hashes of this tree.
        """
        nodes_of_ranges = [list(_perfect_subtrees(start, end)) for start, end in ranges]
        stored = self._read_all(chain.from_iterable(nodes_of_ranges))

        # Join the nodes of each range from the right, where the subtrees are smallest.
        roots = []
        for nodes in nodes_of_ranges:
            *left_nodes, last_node = nodes
            value = stored[last_node]
            for node in reversed(left_nodes):
                value = node_hash(stored[node], value)
            roots.append(value)
        return tuple(roots)

    def _read_all(self, wanted: Iterable[Node]) -> Mapping[Node, bytes]:
        """Return the stored hashes of given nodes of the tree, by node.

        The length of each hash is checked, because the store may be a damaged database.

        Args:
            wanted: the nodes, each a perfect subtree of 2^level leaves.

        Returns:
            The hash of each node, 32 bytes.

        Raises:
            NodesMissing: the store lacks one of them, or has a value that is not 32 bytes long.
        """
        nodes = tuple(wanted)
        if not nodes:
            return {}
        stored = self.nodes.read_hashes(nodes)
        for node in nodes:
            value = stored.get(node, b"")  # empty, and thus too short, for a node that is not stored
            if len(value) != HASH_BYTES:
                raise NodesMissing(f"the hash of node {node.place} at level {node.level} is not stored")
        return stored


def _left_size(count: int) -> int:
    """Return the number of leaves of the left subtree of a tree: the largest power of two below `count`.

    Args:
        count: number of leaves of the tree, at least 2.
    """
    exponent = (count - 1).bit_length() - 1
    return 1 << exponent


def _perfect_subtrees(start: int, end: int) -> Iterable[Node]:
    """Split a range of leaves of a Merkle tree into perfect subtrees, from left to right.

    A perfect subtree covers 2^k leaves.

    Args:
        start: first leaf. It must be a multiple of the smallest power of two that is at least end − start.
        end: index after the last leaf.

    Yields:
        The highest node of each subtree.
    """
    while start < end:
        level = (end - start).bit_length() - 1  # 2^level is the largest power of two that is left
        yield Node(level, start >> level)
        start += 1 << level
