"""Which known names are near a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

LONGEST_COMPARED = 64
MOST = 5
NEAR = 0.5
"""Two names are near if this share of their pairs of neighbouring letters is common."""


def near(name: str, names: Iterable[str]) -> list[str]:
    """The nearest of some names, best first; none if none is near. The comparison costs a microsecond a name."""
    asked = _pairs.__wrapped__(name[:LONGEST_COMPARED].lower())
    shares = ((_share(asked, _pairs(known)), known) for known in names)
    return [known for share, known in sorted(shares, key=lambda it: (-it[0], it[1]))[:MOST] if share >= NEAR]


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


@lru_cache(maxsize=4096)
def _pairs(name: str) -> frozenset[str]:
    """Its pairs of neighbouring letters, with where it begins and ends."""
    whole = f"^{name.lower()}$"
    return frozenset(whole[place : place + 2] for place in range(len(whole) - 1))
