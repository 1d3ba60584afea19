"""Certified comparison of two profiles: whether one stays below the other by at most η at every ε ≥ 0.

As functions of γ = e^ε both profiles are convex and decreasing. Between two neighbouring points a < b the left profile
is at most its chord, and the right profile at least each of its tangents at a and at b. Chord minus tangent is linear,
so the smaller of the two differences is at most the larger endpoint value of any weighted mean of them. Every weight
gives a valid bound; the weight at which both endpoint values agree is as good as the crossing of the tangents. Beyond
the last point the left profile is at most its value there, and the right profile at least zero. Every value is rounded
to the safe side (docs/ledger.md, "Residue charges").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

FIRST_CELLS = 48
"""Number of cells before any cell is split."""
MOST_POINTS = 4000
"""Largest number of points, each of which takes an evaluation of both profiles."""
MOST_ROUNDS = 24
"""Largest number of rounds, each of which halves every cell that fails."""
_LEAST_WIDTH = 1e-9
"""Width in ε below which a cell is not split any more."""
_TERMS = 16.0
"""Number of rounded operations in the largest of the bounds below, with a margin."""


@dataclass(frozen=True)
class Excess:
    """Bounds on the largest difference of two profiles, in units of η."""

    upper: float
    """Certified upper bound; math.inf if the cells could not be made fine enough."""
    worst: float
    """ε of the point with the largest difference."""
    at_points: float
    """Largest difference at a point: not certified, and a lower bound up to rounding."""

    @property
    def holds(self) -> bool:
        """True if the left profile is at most the right profile plus η at every ε ≥ 0."""
        return self.upper <= 1.0


def excess(left: Profile, right: Profile, log_eta: float, last: float) -> Excess:
    """Bound the largest (left − right)/η over ε ≥ 0.

    A privacy profile is δ as a function of ε. The range of ε is divided into cells, and the difference is bounded in
    each. Cells are split until the bound is at most 1, or until the value at a point exceeds 1. Both profiles
    must be convex in e^ε, as all profiles are.

    Args:
        left: profile of the mechanism composed with what remains of the slot.
        right: profile of the slot.
        log_eta: log η.
        last: an ε at which the left profile is at most η.
    """
    at = np.linspace(0.0, last, FIRST_CELLS + 1)
    rows = _Rows.of(left, right, at, log_eta)
    if not rows.above[-1] <= 1.0:
        return Excess(math.inf, last, math.inf)
    for _ in range(MOST_ROUNDS):
        points = rows.above - rows.below
        place = int(np.argmax(points))
        bounds = rows.bounds()
        bound = Excess(float(max(bounds.max(initial=0.0), rows.above[-1])), float(rows.at[place]), float(points[place]))
        failing = np.flatnonzero(~(bounds <= 1.0))
        if failing.size == 0 or not bound.at_points <= 1.0:
            return bound
        wide = failing[np.diff(rows.at)[failing] > _LEAST_WIDTH]
        if wide.size == 0 or rows.at.size + wide.size > MOST_POINTS:
            break
        middles = 0.5 * (rows.at[wide] + rows.at[wide + 1])
        rows = rows.merge(_Rows.of(left, right, middles, log_eta))
    return Excess(math.inf, bound.worst, bound.at_points)


@dataclass(frozen=True)
class _Rows:
    """Points in increasing ε, with bounds on both profiles and on the right profile's slope in γ = e^ε.

    All bounds are divided by η. Two neighbouring points are the bounds of a cell.
    """

    at: FloatArray
    """The points ε."""
    above: FloatArray
    """Upper bound on the left profile."""
    below: FloatArray
    """Lower bound on the right profile."""
    gentle: FloatArray
    """Lower bound on the negative slope of the right profile."""
    steep: FloatArray
    """Upper bound on the negative slope of the right profile."""

    @classmethod
    def of(cls, left: Profile, right: Profile, epsilon: FloatArray, log_eta: float) -> _Rows:
        """Evaluate both profiles and the slope of the right one at some ε, with errors rounded to the safe side.

        Args:
            left: profile of the mechanism composed with what remains of the slot.
            right: profile of the slot.
            epsilon: increasing points.
            log_eta: log η.
        """
        above = left.log_delta(epsilon).upper - log_eta
        below = right.log_delta(epsilon).lower - log_eta
        slope = right.log_tails(epsilon).log_q
        accuracy = right.tail_accuracy + 4.0 * UNIT_ROUNDOFF  # of the slope, and of two sums that contain it
        slack = accuracy * (1.0 + np.abs(np.where(np.isneginf(slope), 0.0, slope)))
        return cls(
            epsilon,
            _up(above),
            _down(below),
            _down(slope - slack - log_eta),
            _up(slope + slack - log_eta),
        )

    def merge(self, others: _Rows) -> _Rows:
        """Return the rows of both, sorted by ε."""
        at = np.concatenate([self.at, others.at])
        order = np.argsort(at, kind="stable")
        columns = []
        for name in ("above", "below", "gentle", "steep"):
            column = np.concatenate([getattr(self, name), getattr(others, name)])
            columns.append(column[order])
        return _Rows(at[order], *columns)

    def bounds(self) -> FloatArray:
        """Return for each cell between two neighbouring points an upper bound on (left − right)/η.

        In a cell the left profile is at most its chord. The right profile is at least its tangent at the first point,
        and at least its tangent at the second. Chord minus tangent is linear in γ, so its bound is the larger of its
        values at the two points. The result uses the weighted mean of both tangents with the smallest bound.
        """
        first, second = slice(None, -1), slice(1, None)
        reach = np.diff(self.at)
        width = np.exp(self.at[first]) * np.expm1(reach)  # of γ; differences of powers would lose digits
        error = (24.0 + reach) * UNIT_ROUNDOFF  # expm1 passes an error of its argument on, enlarged by 1 + reach
        wider, narrower = width * (1.0 + error), width * (1.0 - error)
        # The first difference uses the tangent at the left end, the second that at the right end; each at both ends.
        first_left = self.above[first] - self.below[first]
        fall = self.steep[first] * wider
        first_right = self.above[second] - (self.below[first] - fall)
        rise = self.gentle[second] * narrower
        second_left = self.above[first] - (self.below[second] + rise)
        second_right = self.above[second] - self.below[second]
        with np.errstate(invalid="ignore", divide="ignore"):
            tilt = (first_right - first_left) - (second_right - second_left)
            weight = np.where(tilt != 0.0, -(second_right - second_left) / tilt, 0.5)
        weight = np.clip(np.nan_to_num(weight, nan=0.5), 0.0, 1.0)
        mixed = np.maximum(
            weight * first_left + (1.0 - weight) * second_left, weight * first_right + (1.0 - weight) * second_right
        )
        separate = np.minimum(np.maximum(first_left, first_right), np.maximum(second_left, second_right))
        size = self.above[first] + self.above[second] + self.below[first] + self.below[second] + fall + rise
        return np.asarray(np.minimum(mixed, separate) + _TERMS * UNIT_ROUNDOFF * size)


def _up(log_value: FloatArray) -> FloatArray:
    """Return an upper bound on exp(log_value)."""
    with np.errstate(over="ignore"):
        value = np.exp(log_value)
    return np.asarray(value * (1.0 + 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))))


def _down(log_value: FloatArray) -> FloatArray:
    """Return a lower bound on exp(log_value)."""
    value = np.exp(np.minimum(log_value, 700.0))
    return np.asarray(value * (1.0 - 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))))
