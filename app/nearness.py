"""Known names that are similar to an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

LONGEST_COMPARED = 64
"""Number of letters of a name that are compared, so that a long name from a client costs little time."""
MOST = 5
"""Largest number of similar names that are returned."""
NEAR = 0.5
"""Least similarity of two names that are near: the share of common pairs of successive letters (Dice's coefficient)."""


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most similar to a given name.

    The similarity is the share of common pairs of successive letters, between 0 and 1. Case is ignored.

    Args:
        name: the name to compare, which may come from a client.
        names: the names to choose from.

    Returns:
        At most `MOST` names with a similarity of at least `NEAR`, the most similar one first. Names of equal similarity
        are in alphabetical order.
    """
    pairs = _pairs.__wrapped__(name[:LONGEST_COMPARED].lower())  # a name from a client must not fill the cache
    shares = {candidate: _share(pairs, _pairs(candidate)) for candidate in names}
    nearest_first = sorted(shares, key=lambda candidate: (-shares[candidate], candidate))
    return [candidate for candidate in nearest_first[:MOST] if shares[candidate] >= NEAR]


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    """Return Dice's coefficient of two sets of pairs: twice the number of common pairs over the sum of both sizes."""
    return 2 * len(left & right) / (len(left) + len(right))


@lru_cache(maxsize=4096)
def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of successive letters of a name in lower case, with marks for its beginning and end."""
    marked_name = f"^{name.lower()}$"
    return frozenset(marked_name[start : start + 2] for start in range(len(marked_name) - 1))
