"""A small log with everything that can be shown of it."""

from epsilond.ledgers.log import checkpoints, receipts
from epsilond.ledgers.log.canonical import canonical
from epsilond.ledgers.log.checkpoints import Checkpoint
from epsilond.ledgers.log.proofs import Consistency
from epsilond.ledgers.log.tree import MemoryNodes, Tree
from tests.ledgers.log.keys import FIRST, ORIGIN
from tests.ledgers.log.trees import mth

ENTRIES = tuple({"kind": "commit", "seq": number, "charge": {"mu_squared": f"0.{number:018}"}} for number in range(23))
TREE = Tree(MemoryNodes()).extend(map(canonical, ENTRIES))
REWRITTEN = tuple(entry | {"charge": "0"} if entry["seq"] == 4 else entry for entry in ENTRIES)


def note(size, *, entries=ENTRIES, key=FIRST):
    """The signed head, its root worked out by the definition."""
    root = mth([canonical(entry) for entry in entries[:size]])
    return checkpoints.sign(Checkpoint(ORIGIN, size, root), key)


def receipt(index, size, *, entries=ENTRIES, key=FIRST):
    tree = TREE if entries is ENTRIES else Tree(MemoryNodes()).extend(map(canonical, entries))
    return receipts.make(Tree(tree.nodes, size), index, entries[index], note(size, entries=entries, key=key), key)


def consistency(first, second):
    return Consistency.of(Tree(TREE.nodes, second), first)
