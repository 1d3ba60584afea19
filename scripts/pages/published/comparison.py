"""Certified bounds of a published figure's run, and the verdict that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from epsilond.accountants.account import account
from epsilond.calibrators.answer import Ends
from scripts.pages.published.figure import PublishedFigure

Verdict = Literal["above the truth", "equal", "below the truth", "cannot be decided"]
TARGET_MARGIN = 0.005
"""Largest excess of a guarantee over our upper bound, relative to that, that counts as equal: calibrations stop at a
tolerance of this order."""
DECIDED = 1e-6
"""Largest relative width of our bounds at which a result between them counts as equal; most bounds are within 1e-9."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A published figure next to our bounds on ε.

    Attributes:
        figure: the published figure.
        bounds: certified bounds on ε at the figure's δ; None without a spec.
    """

    figure: PublishedFigure
    bounds: Ends | None

    @property
    def value(self) -> float:
        """The published ε."""
        return float(self.figure.published)

    @property
    def verdict(self) -> Verdict:
        """The relation of the published ε to the truth: above it, below it, equal, or undecided.

        A result of an accountant represents all values that round to it. A guarantee, a claim that ε is at most the
        figure, holds if our upper bound is not larger, and fails if our lower bound is larger.
        """
        if self.bounds is None:
            return "cannot be decided"
        is_result = self.figure.claim == "result"
        # A result has the tolerance of half a unit in its last digit.
        half = self.figure.half_digit if is_result else 0.0
        lower, upper = float(self.bounds.lower), float(self.bounds.upper)
        if lower > self.value + half:
            return "below the truth"
        if not is_result and upper <= self.value:
            return "equal" if self.value <= upper * (1.0 + TARGET_MARGIN) else "above the truth"
        if is_result and upper < self.value - half:
            return "above the truth"
        return "equal" if upper - lower <= DECIDED * upper else "cannot be decided"

    @property
    def distance(self) -> float | None:
        """Larger of the published ε and our bound over the smaller, minus 1; None if they are equal or not decided."""
        if self.bounds is None or self.verdict not in ("above the truth", "below the truth"):
            return None
        if self.verdict == "above the truth":
            return self.value / float(self.bounds.upper) - 1.0
        return float(self.bounds.lower) / self.value - 1.0


def compare(figure: PublishedFigure) -> Comparison:
    """Compute certified bounds on the ε of the run for which a figure was published.

    Args:
        figure: the published figure.

    Returns:
        The figure with the bounds at its δ; without bounds if the source does not decide the run.
    """
    if figure.spec is None:
        return Comparison(figure=figure, bounds=None)
    guarantee = account(figure.spec, relation=figure.relation, unit=figure.unit, observer=figure.observer).guarantee
    return Comparison(figure=figure, bounds=Ends.of(guarantee.curve.epsilon(math.log(figure.delta))))
