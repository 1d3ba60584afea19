"""Proofs are verified by roots alone, and no changed byte passes."""

import random

import pytest

from epsilond.ledgers.log.errors import NotVerified
from epsilond.ledgers.log.proofs import verify_consistency, verify_inclusion
from tests.ledgers.log.trees import leaves, mth, path, subproof

MOST = 70
LEAVES = leaves(MOST)
ROOTS = [mth(LEAVES[:size]) for size in range(MOST + 1)]
OTHER = bytes(32)


def altered(text):
    """The text with each of its bytes changed, one at a time."""
    for place in range(len(text)):
        yield text[:place] + bytes([text[place] ^ 0x01]) + text[place + 1 :]


def altered_proofs(proof):
    """Proofs with one byte changed, and with hashes left out, doubled, exchanged or put in."""
    for place, each in enumerate(proof):
        before, after = proof[:place], proof[place + 1 :]
        for other in altered(each):
            yield (*before, other, *after)
        yield (*before, *after)
        yield (*before, each, each, *after)
        yield (*before, each[:-1], *after)
        if after and after[0] != each:
            yield (*before, after[0], each, *after[1:])
    yield (OTHER, *proof)
    yield (*proof, OTHER)


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_the_proofs_of_the_definition_are_accepted(size):
    for index in range(size):
        verify_inclusion(LEAVES[index], index, size, path(index, LEAVES[:size]), ROOTS[size])
    for earlier in range(1, size + 1):
        verify_consistency(earlier, ROOTS[earlier], size, ROOTS[size], subproof(earlier, LEAVES[:size], True))
    verify_consistency(0, ROOTS[0], size, ROOTS[size], ())


@pytest.mark.parametrize("size", range(1, 20))
def test_another_leaf_place_size_or_root_is_refused(size):
    for index in range(size):
        proof = path(index, LEAVES[:size])
        wrong = [(LEAVES[index], other, size, ROOTS[size]) for other in range(-1, size + 2) if other != index]
        wrong += [(LEAVES[index], index, size, root) for root in altered(ROOTS[size])]
        wrong += [(leaf, index, size, ROOTS[size]) for leaf in (*altered(LEAVES[index]), LEAVES[index] + b"\0")]
        # A size of the same shape of path has the same proof: the root, which is signed with its size, tells them apart.
        wrong += [(LEAVES[index], index, other, ROOTS[other]) for other in range(size + 2) if other != size]
        for leaf, place, claimed, root in wrong:
            with pytest.raises(NotVerified):
                verify_inclusion(leaf, place, claimed, proof, root)


@pytest.mark.parametrize("size", range(1, 20))
def test_no_changed_proof_passes(size):
    for index in range(size):
        for proof in altered_proofs(path(index, LEAVES[:size])):
            with pytest.raises(NotVerified):
                verify_inclusion(LEAVES[index], index, size, proof, ROOTS[size])
    for earlier in range(size + 1):
        good = subproof(earlier, LEAVES[:size], True) if earlier else ()
        for proof in altered_proofs(good):
            with pytest.raises(NotVerified):
                verify_consistency(earlier, ROOTS[earlier], size, ROOTS[size], proof)
        for was in altered(ROOTS[earlier]):
            with pytest.raises(NotVerified):
                verify_consistency(earlier, was, size, ROOTS[size], good)
        for now in altered(ROOTS[size]) if earlier else ():  # every tree begins with the empty one
            with pytest.raises(NotVerified):
                verify_consistency(earlier, ROOTS[earlier], size, now, good)


def test_a_rewritten_log_has_no_proof():
    chosen = random.Random(1)
    for _ in range(50):
        size = chosen.randrange(2, MOST)
        earlier = chosen.randrange(1, size)
        other = [*LEAVES[:size]]
        other[chosen.randrange(earlier)] += b"!"
        for proof in (subproof(earlier, other, True), subproof(earlier, LEAVES[:size], True)):
            with pytest.raises(NotVerified):
                verify_consistency(earlier, ROOTS[earlier], size, mth(other), proof)


def test_trees_do_not_shrink():
    with pytest.raises(NotVerified, match="not a beginning"):
        verify_consistency(5, ROOTS[5], 4, ROOTS[4], ())
    with pytest.raises(NotVerified, match="empty"):
        verify_consistency(3, ROOTS[3], 4, ROOTS[4], ())
    with pytest.raises(NotVerified, match="two roots"):
        verify_consistency(4, ROOTS[4], 4, ROOTS[5], ())
    with pytest.raises(NotVerified, match="empty tree"):
        verify_consistency(0, OTHER, 0, OTHER, ())
