"""Names of scores along a curve, which a trial measures at several positions, such as numbers of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

SEPARATOR = "@"
"""Sign between the name of a score and its position on the curve."""
ScoreT = TypeVar("ScoreT")


def name_at(score: str, place: int) -> str:
    """Return the name of a score at one position of a curve, such as `test_error@200`.

    Args:
        score: name of the score.
        place: position on the curve, such as a number of rounds.

    Returns:
        The name and the position, separated by `SEPARATOR`.
    """
    return f"{score}{SEPARATOR}{place}"


def split_scores(scores: Mapping[str, ScoreT]) -> dict[int, dict[str, ScoreT]]:
    """Group scores with names such as `test_error@200` by the position after the sign @.

    Args:
        scores: scores by name. At least one name has a position. Names without a position belong to scores of the whole
            run, which are added to the last position.

    Returns:
        For each position, in ascending order, its scores by their names without the position.
    """
    curve: dict[int, dict[str, ScoreT]] = {}
    without_position = {}
    for full_name, score in scores.items():
        name, separator, position = full_name.partition(SEPARATOR)
        if separator:
            curve.setdefault(int(position), {})[name] = score
        else:
            without_position[name] = score
    last_position = max(curve)
    curve[last_position].update(without_position)
    return dict(sorted(curve.items()))
