"""The tree of stored nodes beside RFC 9162's definition, and what it reads and writes."""

import random

import pytest

from epsilond.ledgers.log.tree import EMPTY_ROOT, MemoryNodes, Node, NodesMissing, Tree, leaf_hash
from tests.ledgers.log.trees import leaves, mth, path, subproof

MOST = 70
LEAVES = leaves(MOST)
KNOWN_LEAVES = tuple(
    bytes.fromhex(each)
    for each in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
)
KNOWN_ROOTS = {  # of the test trees of Certificate Transparency's implementations
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


class Counting(MemoryNodes):
    """Nodes that count what is asked of them."""

    def __init__(self):
        super().__init__()
        self.calls = self.asked = 0

    def read_hashes(self, wanted):
        wanted = tuple(wanted)
        self.calls += 1
        self.asked += len(wanted)
        return super().read_hashes(wanted)


def grown(entries):
    tree = Tree(MemoryNodes())
    for entry in entries:
        tree = tree.extend([entry])
    return tree


WHOLE = grown(LEAVES)


@pytest.mark.parametrize("size", range(MOST + 1))
def test_roots_and_proofs_are_those_of_the_definition(size):
    tree, entries = Tree(WHOLE.nodes, size), LEAVES[:size]
    assert tree.root() == mth(entries)
    for index in range(size):
        assert tree.inclusion(index) == path(index, entries)
    for earlier in range(1, size + 1):
        assert tree.consistency(earlier) == subproof(earlier, entries, True)


@pytest.mark.parametrize("size", KNOWN_ROOTS)
def test_roots_are_those_that_others_publish(size):
    assert grown(KNOWN_LEAVES[:size]).root().hex() == KNOWN_ROOTS[size]


def test_larger_trees_are_those_of_the_definition():
    chosen = random.Random(9162)
    entries = leaves(1500)
    tree = Tree(MemoryNodes()).extend(entries)
    for size in chosen.sample(range(MOST, 1500), 12):
        was = Tree(tree.nodes, size)
        index, earlier = chosen.randrange(size), chosen.randrange(1, size)
        assert was.root() == mth(entries[:size])
        assert was.inclusion(index) == path(index, entries[:size])
        assert was.consistency(earlier) == subproof(earlier, entries[:size], True)


def test_a_batch_is_the_same_as_one_by_one():
    at_once, in_parts = Tree(MemoryNodes()).extend(LEAVES), Tree(MemoryNodes())
    for start in range(0, MOST, 13):
        in_parts = in_parts.extend(LEAVES[start : start + 13])
    assert at_once.nodes == in_parts.nodes == WHOLE.nodes
    assert at_once.size == in_parts.size == MOST
    assert Tree(MemoryNodes()).extend([]).root() == EMPTY_ROOT


def test_few_nodes_are_stored_and_read():
    size = 1000
    nodes = Counting()
    tree = Tree(nodes)
    for entry in leaves(size):
        tree = tree.extend([entry])
    assert len(nodes) == 2 * size - size.bit_count()  # a perfect tree of n leaves has 2n − 1 nodes
    limit = 2 * size.bit_length() + 2
    for act in (lambda: tree.extend([b"more"]), tree.root, lambda: tree.inclusion(517), lambda: tree.consistency(517)):
        nodes.calls = nodes.asked = 0
        act()
        assert nodes.calls == 1
        assert nodes.asked <= limit


def test_a_leaf_is_no_inner_node():
    left, right = leaf_hash(b"left"), leaf_hash(b"right")
    assert grown([left + right]).root() != grown([b"left", b"right"]).root()


def test_what_a_tree_does_not_have_is_refused():
    for index in (-1, MOST):
        with pytest.raises(ValueError, match=f"no leaf {index}"):
            WHOLE.inclusion(index)
    for earlier in (-1, MOST + 1):
        with pytest.raises(ValueError, match="never had"):
            WHOLE.consistency(earlier)
    with pytest.raises(ValueError, match="at least 0"):
        Tree(MemoryNodes(), -1)


def test_history_is_not_rewritten():
    with pytest.raises(ValueError, match="never changes"):
        Tree(WHOLE.nodes, MOST - 1).extend([b"another"])
    assert WHOLE.root() == mth(LEAVES)


@pytest.mark.parametrize(
    "damage", [lambda hashes, node: hashes.pop(node), lambda hashes, node: hashes.update({node: b"short"})]
)
def test_a_damaged_store_is_noticed(damage):
    nodes = MemoryNodes()
    tree = Tree(nodes).extend(LEAVES)
    damage(nodes._hashes, Node(6, 0))
    for act in (tree.root, lambda: tree.extend([b"more"]), lambda: tree.inclusion(66), lambda: tree.consistency(65)):
        with pytest.raises(NodesMissing, match="node 0 at level 6"):
            act()
