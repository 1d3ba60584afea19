"""Known names that are near an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

LONGEST_COMPARED = 64
MOST = 5
NEAR = 0.5
"""Least share of common pairs of neighbouring letters with which two names are near."""


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the nearest of some names, best first; empty if none is near. Each name takes a microsecond."""
    pairs = _pairs.__wrapped__(name[:LONGEST_COMPARED].lower())
    shares = ((_share(pairs, _pairs(candidate)), candidate) for candidate in names)
    return [candidate for share, candidate in sorted(shares, key=lambda it: (-it[0], it[1]))[:MOST] if share >= NEAR]


def _share(left: frozenset[str], right: frozenset[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right))


@lru_cache(maxsize=4096)
def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters of a name, with marks for its beginning and end."""
    marked_name = f"^{name.lower()}$"
    return frozenset(marked_name[place : place + 2] for place in range(len(marked_name) - 1))
