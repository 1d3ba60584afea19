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
    """Sort scores into a curve: by their position, in ascending order, and then by their name without the position.

    Args:
        scores: scores by name, at least one of them at a position of the curve. Scores without a position are added to
            those at the last one.

    Returns:
        For each position the scores there, by name.
    """
    curve: dict[int, dict[str, ScoreT]] = {}
    without_position = {}
    for full_name, score in scores.items():
        name, separator, position = full_name.partition(SEPARATOR)
        if separator:
            curve.setdefault(int(position), {})[name] = score
        else:
            without_position[name] = score
    # Scores of the whole run belong to its end.
    last_position = max(curve)
    curve[last_position].update(without_position)
    return dict(sorted(curve.items()))
