"""Inclusion proofs (a leaf is in a tree) and consistency proofs (a tree is the beginning of another).

Roots are all that is needed to verify them. The algorithms are those of RFC 9162, sections 2.1.3.2 and 2.1.4.2. They
climb from the leaf, and the size of the tree determines its shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest

from epsilond.ledgers.log.encodings import from_base64, to_base64
from epsilond.ledgers.log.errors import Malformed, NotVerified
from epsilond.ledgers.log.tree import EMPTY_ROOT, HASH_BYTES, Tree, leaf_hash, node_hash

WARNINGS = "warnings"
"""Member that a service may add to the record of a proof or a receipt. It is neither signed nor proved."""


@dataclass(frozen=True)
class Inclusion:
    """Proof that a leaf is in a Merkle tree (RFC 9162, section 2.1.3).

    Attributes:
        leaf_index: index of the leaf, from 0.
        tree_size: number of leaves of the tree.
        path: hashes from the leaf's sibling to the root's child.
    """

    leaf_index: int
    tree_size: int
    path: tuple[bytes, ...]

    @classmethod
    def of(cls, tree: Tree, leaf_index: int) -> Inclusion:
        """Return the proof for a leaf of this tree. Errors are those of `Tree.inclusion`."""
        return cls(leaf_index, tree.size, tree.inclusion(leaf_index))

    @property
    def record(self) -> dict[str, object]:
        """Record of the proof."""
        return {"leaf_index": self.leaf_index, "tree_size": self.tree_size, "inclusion_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Inclusion:
        """Read a proof from its record.

        Raises:
            Malformed: the record is not of such a proof.
        """
        return cls(*_fields(record, "leaf_index", "tree_size", "inclusion_path"))

    def verify(self, leaf: bytes, root: bytes) -> None:
        """Verify that the leaf is in the tree with this root. Errors are those of `verify_inclusion`."""
        verify_inclusion(leaf, self.leaf_index, self.tree_size, self.path, root)


@dataclass(frozen=True)
class Consistency:
    """Proof that a Merkle tree is the beginning of a larger one (RFC 9162, section 2.1.4).

    Attributes:
        first: number of leaves of the smaller tree.
        second: number of leaves of the larger tree.
        path: hashes of subtrees, as `Tree.consistency` returns them.
    """

    first: int
    second: int
    path: tuple[bytes, ...]

    @classmethod
    def of(cls, tree: Tree, first: int) -> Consistency:
        """Return the proof from an earlier size to this tree. Errors are those of `Tree.consistency`."""
        return cls(first, tree.size, tree.consistency(first))

    @property
    def record(self) -> dict[str, object]:
        """Record of the proof."""
        return {"first": self.first, "second": self.second, "consistency_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Consistency:
        """Read a proof from its record.

        Raises:
            Malformed: the record is not of such a proof.
        """
        return cls(*_fields(record, "first", "second", "consistency_path"))

    def verify(self, first_root: bytes, second_root: bytes) -> None:
        """Verify that the first tree is the beginning of the second. Errors are those of `verify_consistency`."""
        verify_consistency(self.first, first_root, self.second, second_root, self.path)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Verify that a leaf is at an index of a tree.

    Args:
        leaf: content of the leaf.
        index: index of the leaf, from 0.
        size: number of leaves of the tree.
        proof: hashes from the leaf's sibling to the root's child.
        root: root of the tree.

    Raises:
        NotVerified: the proof leads to another root, has a wrong length, or the tree has no such index.
    """
    if not 0 <= index < size:
        raise NotVerified(f"a tree of {size} leaves has no leaf {index}")
    _require_hashes(proof)
    place, last = index, size - 1
    value = leaf_hash(leaf)
    for sibling in proof:
        if last == 0:
            raise NotVerified("the inclusion proof is too long for the tree")
        if place & 1 or place == last:
            value = node_hash(sibling, value)
            place, last = _at_a_right_side(place, last)
        else:
            value = node_hash(value, sibling)
        place, last = place >> 1, last >> 1
    if last:
        raise NotVerified("the inclusion proof is too short for the tree")
    _require_same(value, root, f"the leaf is not entry {index} of the tree with this root")


def verify_consistency(
    earlier: int, earlier_root: bytes, later: int, later_root: bytes, proof: Sequence[bytes]
) -> None:
    """Verify that one tree is the beginning of another.

    Args:
        earlier: number of leaves of the smaller tree.
        earlier_root: root of the smaller tree.
        later: number of leaves of the larger tree.
        later_root: root of the larger tree.
        proof: hashes of the proof, as `Tree.consistency` returns them.

    Raises:
        NotVerified: the proof leads to another root or has a wrong length, or the sizes are not in order.
    """
    _require_hashes(proof)
    if not 0 <= earlier <= later:
        raise NotVerified(f"a tree of {earlier} leaves is no beginning of one of {later}")
    if earlier == 0:
        _require_same(earlier_root, EMPTY_ROOT, "the root of the empty tree is another")
    if earlier == later:
        _require_same(earlier_root, later_root, f"two roots are claimed for the tree of {later} leaves")
    if earlier in {0, later}:
        if proof:
            raise NotVerified("the consistency proof is too long: these trees need none")
        return
    _climb(earlier, earlier_root, later, later_root, proof)


def _climb(earlier: int, earlier_root: bytes, later: int, later_root: bytes, proof: Sequence[bytes]) -> None:
    """Verify a consistency proof by computing both roots from it (RFC 9162, section 2.1.4.2).

    The arguments are those of `verify_consistency`, with 0 < `earlier` < `later`.

    Raises:
        NotVerified: the proof has a wrong length, or leads to another root.
    """
    path = list(proof)
    if earlier & (earlier - 1) == 0:  # a perfect tree is a node of the later one
        path.insert(0, earlier_root)
    if not path:
        raise NotVerified("the consistency proof is empty")
    place, last = earlier - 1, later - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    earlier_value = later_value = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise NotVerified("the consistency proof is too long for the trees")
        if place & 1 or place == last:
            earlier_value, later_value = node_hash(sibling, earlier_value), node_hash(sibling, later_value)
            place, last = _at_a_right_side(place, last)
        else:
            later_value = node_hash(later_value, sibling)
        place, last = place >> 1, last >> 1
    if last:
        raise NotVerified("the consistency proof is too short for the trees")
    _require_same(earlier_value, earlier_root, "the proof does not lead to the earlier root")
    _require_same(
        later_value,
        later_root,
        "the proof does not lead to the later root: the log was rewritten, or the proof is another's",
    )


def _at_a_right_side(place: int, last: int) -> tuple[int, int]:
    """Return place and last node at the level where the node has a left sibling.

    At the levels in between the node is the only child of its parent.
    """
    while place and not place & 1:
        place, last = place >> 1, last >> 1
    return place, last


def _texts(path: Sequence[bytes]) -> list[str]:
    return [to_base64(value) for value in path]


def _fields(record: object, first: str, second: str, path: str) -> tuple[int, int, tuple[bytes, ...]]:
    """Return both numbers and the hashes from the record of a proof.

    Args:
        record: the record.
        first: name of the member with the first number.
        second: name of the member with the second number.
        path: name of the member with the hashes in base 64.

    Raises:
        Malformed: the record has other members or types.
    """
    if not isinstance(record, Mapping) or record.keys() - {WARNINGS} != {first, second, path}:
        raise Malformed(f"a proof has {first}, {second} and {path}")
    sizes, hashes = (record[first], record[second]), record[path]
    if any(not isinstance(item, int) or isinstance(item, bool) for item in sizes):
        raise Malformed(f"{first} and {second} of a proof are integers")
    if not isinstance(hashes, list) or not all(isinstance(item, str) for item in hashes):
        raise Malformed(f"{path} of a proof is a list of hashes in base 64")
    return (*sizes, tuple(from_base64(item) for item in hashes))


def _require_hashes(proof: Sequence[bytes]) -> None:
    """Raise NotVerified if a proof has anything except hashes."""
    if any(len(value) != HASH_BYTES for value in proof):
        raise NotVerified(f"a proof is made of hashes of {HASH_BYTES} bytes")


def _require_same(computed: bytes, claimed: bytes, message: str) -> None:
    """Raise NotVerified with this message if two hashes differ."""
    if not compare_digest(computed, claimed):
        raise NotVerified(message)
