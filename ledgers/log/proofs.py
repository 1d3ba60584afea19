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
        """Return the proof that a tree contains a leaf. Anyone who knows the root of the tree can verify it.

        Args:
            tree: Merkle tree of a log.
            leaf_index: index of the leaf, from 0.

        Returns:
            The proof, with the hashes that lead from the leaf to the root (RFC 9162, section 2.1.3).

        Raises:
            ValueError: the tree has no such leaf.
            NodesMissing: the store of the tree lacks hashes.
        """
        return cls(leaf_index, tree.size, tree.inclusion(leaf_index))

    @property
    def record(self) -> dict[str, object]:
        """The proof as a JSON object."""
        return {"leaf_index": self.leaf_index, "tree_size": self.tree_size, "inclusion_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Inclusion:
        """Read a proof from its JSON object, without verifying it.

        Args:
            record: object with the members `leaf_index`, `tree_size` and `inclusion_path` (hashes in base 64).

        Returns:
            The proof, which may be false.

        Raises:
            Malformed: the record has other members or types. Only a member `warnings` is ignored.
        """
        return cls(*_read_members(record, "leaf_index", "tree_size", "inclusion_path"))

    def verify(self, leaf: bytes, root: bytes) -> None:
        """Verify that the tree with this root contains a leaf at `leaf_index`.

        Args:
            leaf: content of the leaf.
            root: trusted root of the tree, 32 bytes.

        Raises:
            NotVerified: the proof leads to another root, or has a wrong length.
        """
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
        """Return the proof that an earlier tree of a log is the beginning of its present tree.

        It shows that no leaf of the earlier tree was changed or removed.

        Args:
            tree: the present Merkle tree of the log.
            first: number of leaves of the earlier tree.

        Returns:
            The proof, with hashes of subtrees from which both roots can be computed (RFC 9162, section 2.1.4).

        Raises:
            ValueError: `first` is negative, or exceeds the number of leaves.
            NodesMissing: the store of the tree lacks hashes.
        """
        return cls(first, tree.size, tree.consistency(first))

    @property
    def record(self) -> dict[str, object]:
        """The proof as a JSON object."""
        return {"first": self.first, "second": self.second, "consistency_path": _texts(self.path)}

    @classmethod
    def of_record(cls, record: object) -> Consistency:
        """Read a proof from its JSON object, without verifying it.

        Args:
            record: object with the members `first`, `second` and `consistency_path` (hashes in base 64).

        Returns:
            The proof, which may be false.

        Raises:
            Malformed: the record has other members or types. Only a member `warnings` is ignored.
        """
        return cls(*_read_members(record, "first", "second", "consistency_path"))

    def verify(self, first_root: bytes, second_root: bytes) -> None:
        """Verify that the leaves of the smaller tree are the first leaves of the larger one.

        Args:
            first_root: trusted root of the smaller tree, 32 bytes.
            second_root: trusted root of the larger tree, 32 bytes.

        Raises:
            NotVerified: the proof leads to another root, or has a wrong length.
        """
        verify_consistency(self.first, first_root, self.second, second_root, self.path)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Verify that a leaf is at an index of a tree (RFC 9162, section 2.1.3.2).

    The path from the leaf to the root is computed with the hashes of the proof, one sibling after the other.

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
    # Climb from the leaf. `value` is the hash of the node at the position `path`.
    path = _PathToRoot(index, size - 1)
    value = leaf_hash(leaf)
    for sibling in proof:
        if path.is_at_root:
            raise NotVerified("the inclusion proof is too long for the tree")
        left, right = (sibling, value) if path.has_left_sibling else (value, sibling)
        value = node_hash(left, right)
        path = path.next_joint
    if not path.is_at_root:
        raise NotVerified("the inclusion proof is too short for the tree")
    _require_same(value, root, f"the leaf is not entry {index} of the tree with this root")


def verify_consistency(
    earlier: int, earlier_root: bytes, later: int, later_root: bytes, proof: Sequence[bytes]
) -> None:
    """Verify by a proof (RFC 9162) that the leaves of one Merkle tree are the first leaves of a larger one.

    A log that only grew has such a proof for each two of its sizes.

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
        raise NotVerified(f"a tree of {earlier} leaves is not a beginning of one of {later}")
    if earlier == 0:
        _require_same(earlier_root, EMPTY_ROOT, "the root of the empty tree is another")
    if earlier == later:
        _require_same(earlier_root, later_root, f"two roots are claimed for the tree of {later} leaves")
    # The empty tree begins every tree, and a tree begins itself: no hashes are needed.
    if earlier in {0, later}:
        if proof:
            raise NotVerified("the consistency proof is too long: these trees need no proof")
        return
    _verify_both_roots(earlier, earlier_root, later, later_root, proof)


def _verify_both_roots(
    earlier_size: int, earlier_root: bytes, later_size: int, later_root: bytes, proof: Sequence[bytes]
) -> None:
    """Verify a consistency proof by computing both roots from it (RFC 9162, section 2.1.4.2).

    The path starts at the largest perfect subtree that ends with the last leaf of the earlier tree. (A subtree is
    perfect if it has 2ᵏ leaves.) It is a node of both trees, and its hash is the first of the proof.

    Args:
        earlier_size: number of leaves of the earlier tree, at least 1.
        earlier_root: hash of its root.
        later_size: number of leaves of the later tree, more than `earlier_size`.
        later_root: hash of its root.
        proof: hashes of subtrees, from the leaves towards the root.

    Raises:
        NotVerified: the proof has a wrong length, or leads to another root.
    """
    # An earlier tree of 2ᵏ leaves is that subtree itself. The proof then leaves out its hash, the earlier root.
    hashes = list(proof)
    earlier_is_perfect = earlier_size & (earlier_size - 1) == 0
    if earlier_is_perfect:
        hashes.insert(0, earlier_root)
    if not hashes:
        raise NotVerified("the consistency proof is empty")
    first_hash, *siblings = hashes

    # Climb from the last leaf of the earlier tree to the subtree, and from there to both roots.
    path = _PathToRoot(earlier_size - 1, later_size - 1)
    while path.is_right_child:
        path = path.move_up()
    earlier_value = later_value = first_hash
    for sibling in siblings:
        if path.is_at_root:
            raise NotVerified("the consistency proof is too long for the trees")
        if path.has_left_sibling:
            earlier_value = node_hash(sibling, earlier_value)
            later_value = node_hash(sibling, later_value)
        else:  # a right sibling has only leaves that the earlier tree lacks
            later_value = node_hash(later_value, sibling)
        path = path.next_joint
    if not path.is_at_root:
        raise NotVerified("the consistency proof is too short for the trees")

    _require_same(earlier_value, earlier_root, "the proof does not lead to the earlier root")
    message = "the proof does not lead to the later root: the log was rewritten, or the proof is another's"
    _require_same(later_value, later_root, message)


@dataclass(frozen=True)
class _PathToRoot:
    """Position of a node on the path from a leaf to the root, at one level of a Merkle tree.

    Attributes:
        index: index of the node at its level, from 0; `fn` in RFC 9162.
        last_index: index of the last node at that level; `sn` in RFC 9162.
    """

    index: int
    last_index: int

    @property
    def is_at_root(self) -> bool:
        """True at the level of the root, which has one node."""
        return self.last_index == 0

    @property
    def is_right_child(self) -> bool:
        """True if the index is odd, so that the node is the right child of its parent."""
        return self.index & 1 == 1

    @property
    def has_left_sibling(self) -> bool:
        """True if the next hash of a proof is left of the node, and False if it is right of it.

        The last node of a level has no right sibling. If its index is even, it is moved up unchanged to the level where
        it is a right child.
        """
        return self.is_right_child or self.index == self.last_index

    @property
    def next_joint(self) -> _PathToRoot:
        """The next node on the path to the root of the Merkle tree that has two children, and joins their hashes.

        It may be several levels higher. The last node of a level may have no sibling. Its hash is then that of its
        parent too.
        """
        position = self
        if self.has_left_sibling:
            # An even index at the end of its level: the node has no sibling there.
            while position.index and not position.is_right_child:
                position = position.move_up()
        return position.move_up()

    def move_up(self) -> _PathToRoot:
        """Return the position one level higher: a node's parent has half its index, rounded down."""
        return _PathToRoot(self.index >> 1, self.last_index >> 1)


def _texts(path: Sequence[bytes]) -> list[str]:
    """Return the hashes of a proof as base 64 texts, in the same order."""
    return [to_base64(value) for value in path]


def _read_members(record: object, first: str, second: str, path: str) -> tuple[int, int, tuple[bytes, ...]]:
    """Read the two numbers and the hashes of a Merkle proof from its JSON object.

    Args:
        record: the object. A member `warnings` is ignored.
        first: name of the member with the first number.
        second: name of the member with the second number.
        path: name of the member with the hashes in base 64.

    Returns:
        The first number, the second number, and the decoded hashes, of any length.

    Raises:
        Malformed: the record has other members or types, or a hash is not base 64.
    """
    if not isinstance(record, Mapping) or record.keys() - {WARNINGS} != {first, second, path}:
        raise Malformed(f"a proof has {first}, {second} and {path}")
    first_number = record[first]
    second_number = record[second]
    hashes = record[path]
    if not _is_integer(first_number) or not _is_integer(second_number):
        raise Malformed(f"{first} and {second} of a proof are integers")
    if not isinstance(hashes, list) or not all(isinstance(item, str) for item in hashes):
        raise Malformed(f"{path} of a proof is a list of hashes in base 64")
    return first_number, second_number, tuple(from_base64(item) for item in hashes)


def _is_integer(value: object) -> bool:
    """Return whether a value of a JSON document is an integer. Truth values, which Python counts as integers, are not.

    Args:
        value: any value.
    """
    return isinstance(value, int) and not isinstance(value, bool)


def _require_hashes(proof: Sequence[bytes]) -> None:
    """Check that each item of a proof has the length of a hash, 32 bytes.

    Args:
        proof: hashes of a proof.

    Raises:
        NotVerified: an item has another length.
    """
    if any(len(value) != HASH_BYTES for value in proof):
        raise NotVerified(f"a proof is made of hashes of {HASH_BYTES} bytes")


def _require_same(computed: bytes, claimed: bytes, message: str) -> None:
    """Check that a computed hash equals the claimed one.

    Args:
        computed: hash that follows from the proof.
        claimed: hash that the verifier trusts.
        message: text of the error.

    Raises:
        NotVerified: the hashes differ.
    """
    if not compare_digest(computed, claimed):
        raise NotVerified(message)
