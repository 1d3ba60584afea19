"""Known names that are near an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

# Number of letters of a name that are compared, so that long names of clients cost little time.
LONGEST_COMPARED = 64
# Number of similar names that are returned at most.
MOST = 5
NEAR = 0.5
"""Least share of common pairs of neighbouring letters with which two names are near."""


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names most similar to a name, best first: at most `MOST`, and none below the similarity `NEAR`.

    Two names are similar if they share pairs of neighbouring letters. Upper and lower case are equal.

    Args:
        name: the name to compare, which may come from a client.
        names: the names to choose from.

    Returns:
        The names. Names of equal similarity are in alphabetical order.
    """
    pairs = _pairs.__wrapped__(name[:LONGEST_COMPARED].lower())  # a name from a client must not fill the cache
    shares = {candidate: _share(pairs, _pairs(candidate)) for candidate in names}
    nearest_first = sorted(shares, key=lambda candidate: (-shares[candidate], candidate))
    return [candidate for candidate in nearest_first[:MOST] if shares[candidate] >= NEAR]


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of common pairs among all pairs of two names (Dice's coefficient), between 0 and 1."""
    return 2 * len(left & right) / (len(left) + len(right))


@lru_cache(maxsize=4096)
def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters of a name, with marks for its beginning and end."""
    marked_name = f"^{name.lower()}$"
    return frozenset(marked_name[start : start + 2] for start in range(len(marked_name) - 1))
