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
    asked = _pairs.__wrapped__(name[:LONGEST_COMPARED].lower())
    shares = ((_share(asked, _pairs(known)), known) for known in names)
    return [known for share, known in sorted(shares, key=lambda it: (-it[0], it[1]))[:MOST] if share >= NEAR]


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


@lru_cache(maxsize=4096)
def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters of a name, with marks for its beginning and end."""
    whole = f"^{name.lower()}$"
    return frozenset(whole[place : place + 2] for place in range(len(whole) - 1))
