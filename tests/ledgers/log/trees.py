"""The Merkle tree as RFC 9162 defines it, by recursion over the leaves: the oracle of the tree that stores nodes."""

import hashlib


def hashed(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def split(count):
    k = 1
    while 2 * k < count:
        k *= 2
    return k


def mth(leaves):
    """Section 2.1.1."""
    if not leaves:
        return hashed()
    if len(leaves) == 1:
        return hashed(b"\x00", leaves[0])
    k = split(len(leaves))
    return hashed(b"\x01", mth(leaves[:k]), mth(leaves[k:]))


def path(m, leaves):
    """Section 2.1.3.1."""
    if len(leaves) == 1:
        return ()
    k = split(len(leaves))
    if m < k:
        return (*path(m, leaves[:k]), mth(leaves[k:]))
    return (*path(m - k, leaves[k:]), mth(leaves[:k]))


def subproof(m, leaves, whole):
    """Section 2.1.4.1."""
    if m == len(leaves):
        return () if whole else (mth(leaves),)
    k = split(len(leaves))
    if m <= k:
        return (*subproof(m, leaves[:k], whole), mth(leaves[k:]))
    return (*subproof(m - k, leaves[k:], False), mth(leaves[:k]))


def leaves(count):
    """Leaves of several lengths, the first of them empty."""
    return [f"entry {number} ".encode() * (number % 4) for number in range(count)]
