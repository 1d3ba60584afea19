"""The spread between the arms of an experiment, compared with the bands of their scores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from epsilond.witness.risks.answer import Measured
from scripts.pages.experiments.stored import Stored


def separation(answer: Stored) -> str:
    """Return a sentence about the settings in which the methods differ by more than their widest confidence band.

    A method (arm) is a line of the figure, or a run that is compared with its private run. A setting is a combination
    of values on all axes except that of the lines.

    Args:
        answer: the stored answer of an experiment.

    Returns:
        The sentence; empty for an experiment that measures no score or has one method.
    """
    settings = [arms for arms in _scores_by_setting(answer) if len(arms) > 1]
    if not settings:
        return ""
    spreads = [_range([arm.mean for arm in arms]) for arms in settings]
    widest = [max(arm.upper - arm.lower for arm in arms) for arms in settings]
    apart = sum(spread > band for spread, band in zip(spreads, widest, strict=True))
    return (
        f" The arms are up to {max(spreads):.3g} apart; in {apart} of {len(settings)} settings by more than their "
        "widest band."
    )


def _range(values: Sequence[float]) -> float:
    """Return the difference of the largest and the least value."""
    return max(values) - min(values)


def _scores_by_setting(answer: Stored) -> Iterator[list[Measured]]:
    """Yield the finite scores of all methods in each setting of an experiment.

    Args:
        answer: the stored answer of the experiment.

    Yields:
        For each setting the mean scores with their bands; none if the experiment measures no score.
    """
    lines, measure = answer.preset.lines, answer.preset.measure
    settings: dict[str, list[Measured]] = {}
    for cell in answer.cells:
        place = {name: value for name, value in cell.place.items() if lines is None or name != lines.name}
        runs = [cell.scores or {}, *(cell.scores_beside or {}).values()]
        scores = [run[measure] for run in runs if measure is not None and measure in run]
        settings.setdefault(json.dumps(place, sort_keys=True), []).extend(
            score for score in scores if math.isfinite(score.mean)
        )
    yield from settings.values()
