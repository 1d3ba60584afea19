"""Names of scores along a curve, which a trial measures at several places, such as numbers of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

SEPARATOR = "@"
"""Sign between the name of a score and its place on the curve."""
ScoreT = TypeVar("ScoreT")


def name_at(score: str, place: int) -> str:
    """Return the name of a score at one place of a curve."""
    return f"{score}{SEPARATOR}{place}"


def split_scores(scores: Mapping[str, ScoreT]) -> dict[int, dict[str, ScoreT]]:
    """Return scores by the place on the curve, in ascending order.

    Args:
        scores: scores by name, at least one of them at a place of the curve. Those without a place are added to the
            last one.
    """
    curve: dict[int, dict[str, ScoreT]] = {}
    rest = {}
    for name, score in scores.items():
        base, separator, place = name.partition(SEPARATOR)
        if separator:
            curve.setdefault(int(place), {})[base] = score
        else:
            rest[name] = score
    curve[max(curve)].update(rest)
    return dict(sorted(curve.items()))
