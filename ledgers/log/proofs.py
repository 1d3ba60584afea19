"""What proves that a leaf is in a tree, and that a tree is the beginning of another: verified by roots alone.

The algorithms of RFC 9162, sections 2.1.3.2 and 2.1.4.2: they climb from the leaf; the tree's size tells its shape.
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
    """That a leaf stands at `leaf_index`, from 0, of the tree of `tree_size` leaves."""

    leaf_index: int
    tree_size: int
    path: tuple[bytes, ...]

    @classmethod
    def of(cls, tree: Tree, leaf_index: int) -> Inclusion:
        """The proof for a leaf of this tree. Errors as of `Tree.inclusion`."""
        return cls(leaf_index, tree.size, tree.inclusion(leaf_index))

    @property
    def record(self) -> dict[str, object]:
        return {"leaf_index": self.leaf_index, "tree_size": self.tree_size, "inclusion_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Inclusion:
        """Back from `record`.

        Raises:
            Malformed: it is no such record.
        """
        return cls(*_fields(record, "leaf_index", "tree_size", "inclusion_path"))

    def verify(self, leaf: bytes, root: bytes) -> None:
        """That the leaf is there. Errors as of `verify_inclusion`."""
        verify_inclusion(leaf, self.leaf_index, self.tree_size, self.path, root)


@dataclass(frozen=True)
class Consistency:
    """That the tree of `first` leaves is the beginning of the tree of `second` leaves."""

    first: int
    second: int
    path: tuple[bytes, ...]

    @classmethod
    def of(cls, tree: Tree, first: int) -> Consistency:
        """The proof for this tree, as the second. Errors as of `Tree.consistency`."""
        return cls(first, tree.size, tree.consistency(first))

    @property
    def record(self) -> dict[str, object]:
        return {"first": self.first, "second": self.second, "consistency_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Consistency:
        """Back from `record`.

        Raises:
            Malformed: it is no such record.
        """
        return cls(*_fields(record, "first", "second", "consistency_path"))

    def verify(self, first_root: bytes, second_root: bytes) -> None:
        """That the first is the beginning of the second. Errors as of `verify_consistency`."""
        verify_consistency(self.first, first_root, self.second, second_root, self.path)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """That the leaf stands at this index, from 0, of the tree of this size and root.

    Raises:
        NotVerified: the proof does not show it.
    """
    if not 0 <= index < size:
        raise NotVerified(f"a tree of {size} leaves has no leaf {index}")
    _hashes_only(proof)
    place, last = index, size - 1
    value = leaf_hash(leaf)
    for beside in proof:
        if last == 0:
            raise NotVerified("the inclusion proof is too long for the tree")
        if place & 1 or place == last:
            value = node_hash(beside, value)
            place, last = _at_a_right_side(place, last)
        else:
            value = node_hash(value, beside)
        place, last = place >> 1, last >> 1
    if last:
        raise NotVerified("the inclusion proof is too short for the tree")
    _same(value, root, f"the leaf is not entry {index} of the tree with this root")


def verify_consistency(
    earlier: int, earlier_root: bytes, later: int, later_root: bytes, proof: Sequence[bytes]
) -> None:
    """That the tree of `earlier` leaves and its root is the beginning of the one of `later` leaves and its root.

    Raises:
        NotVerified: the proof does not show it.
    """
    _hashes_only(proof)
    if not 0 <= earlier <= later:
        raise NotVerified(f"a tree of {earlier} leaves is no beginning of one of {later}")
    if earlier == 0:
        _same(earlier_root, EMPTY_ROOT, "the root of the empty tree is another")
    if earlier == later:
        _same(earlier_root, later_root, f"two roots are claimed for the tree of {later} leaves")
    if earlier in {0, later}:
        if proof:
            raise NotVerified("the consistency proof is too long: these trees need none")
        return
    _climb(earlier, earlier_root, later, later_root, proof)


def _climb(earlier: int, earlier_root: bytes, later: int, later_root: bytes, proof: Sequence[bytes]) -> None:
    path = [*proof] if earlier & (earlier - 1) else [earlier_root, *proof]  # a perfect tree is a node of the later one
    if not path:
        raise NotVerified("the consistency proof is empty")
    place, last = earlier - 1, later - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    was = now = path[0]
    for beside in path[1:]:
        if last == 0:
            raise NotVerified("the consistency proof is too long for the trees")
        if place & 1 or place == last:
            was, now = node_hash(beside, was), node_hash(beside, now)
            place, last = _at_a_right_side(place, last)
        else:
            now = node_hash(now, beside)
        place, last = place >> 1, last >> 1
    if last:
        raise NotVerified("the consistency proof is too short for the trees")
    _same(was, earlier_root, "the proof does not lead to the earlier root")
    _same(
        now, later_root, "the proof does not lead to the later root: the log was rewritten, or the proof is another's"
    )


def _at_a_right_side(place: int, last: int) -> tuple[int, int]:
    """Up to where a left neighbour follows: between, the node is the only child of its parent."""
    while place and not place & 1:
        place, last = place >> 1, last >> 1
    return place, last


def _texts(path: Sequence[bytes]) -> list[str]:
    return [to_base64(each) for each in path]


def _fields(record: object, one: str, other: str, path: str) -> tuple[int, int, tuple[bytes, ...]]:
    if not isinstance(record, Mapping) or record.keys() - {WARNINGS} != {one, other, path}:
        raise Malformed(f"a proof has {one}, {other} and {path}")
    sizes, hashes = (record[one], record[other]), record[path]
    if any(not isinstance(each, int) or isinstance(each, bool) for each in sizes):
        raise Malformed(f"{one} and {other} of a proof are integers")
    if not isinstance(hashes, list) or not all(isinstance(each, str) for each in hashes):
        raise Malformed(f"{path} of a proof is a list of hashes in base 64")
    return (*sizes, tuple(from_base64(each) for each in hashes))


def _hashes_only(proof: Sequence[bytes]) -> None:
    if any(len(each) != HASH_BYTES for each in proof):
        raise NotVerified(f"a proof is made of hashes of {HASH_BYTES} bytes")


def _same(found: bytes, claimed: bytes, otherwise: str) -> None:
    if not compare_digest(found, claimed):
        raise NotVerified(otherwise)
