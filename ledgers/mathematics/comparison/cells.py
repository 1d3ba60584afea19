"""Whether one profile stays below another by at most η at every ε ≥ 0, certified from finitely many points.

As functions of γ = e^ε both profiles are convex and fall. Between two neighbouring points a < b the left one is at most
its chord, and the right one at least each of its tangents at a and at b. Chord minus tangent is linear, so the least of
the two differences is at most the larger end of any mean of them: a mean whose ends agree is as good as the crossing of
the tangents, and whatever its weight is, the bound holds. Beyond the last point the left profile is at most its
value there, and the right one at least zero. Every value is rounded against what is to be shown (docs/ledger.md,
"Residue charges").
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
MOST_POINTS = 4000
MOST_ROUNDS = 24
_LEAST_WIDTH = 1e-9
_TERMS = 16.0
"""Rounded operations in the largest of the bounds below, with room."""


@dataclass(frozen=True)
class Excess:
    """What is known of the largest difference of the profiles, in units of η."""

    upper: float
    """It is at most this: certified. math.inf where the cells could not be made fine enough."""
    worst: float
    """The ε of the point where it was largest."""
    at_points: float
    """The largest at a point; not certified, and a lower bound up to rounding."""

    @property
    def holds(self) -> bool:
        """True if the left profile is at most the right profile plus η at every ε ≥ 0."""
        return self.upper <= 1.0


def excess(left: Profile, right: Profile, log_eta: float, last: float) -> Excess:
    """Bound the largest (left − right)/η over ε ≥ 0.

    Cells are split until the bound is at most 1, or until a point shows more than 1.

    `last` is an ε where the left profile is at most η. Both profiles must be convex in e^ε, as all profiles are; their
    ends and tails are read outward.
    """
    at = np.linspace(0.0, last, FIRST_CELLS + 1)
    rows = _Rows.of(left, right, at, log_eta)
    if not rows.above[-1] <= 1.0:
        return Excess(math.inf, last, math.inf)
    for _ in range(MOST_ROUNDS):
        points = rows.above - rows.below
        place = int(np.argmax(points))
        bounds = rows.bounds()
        found = Excess(float(max(bounds.max(initial=0.0), rows.above[-1])), float(rows.at[place]), float(points[place]))
        failing = np.flatnonzero(~(bounds <= 1.0))
        if failing.size == 0 or not found.at_points <= 1.0:
            return found
        wide = failing[np.diff(rows.at)[failing] > _LEAST_WIDTH]
        if wide.size == 0 or rows.at.size + wide.size > MOST_POINTS:
            break
        middles = 0.5 * (rows.at[wide] + rows.at[wide + 1])
        rows = rows.joined(_Rows.of(left, right, middles, log_eta))
    return Excess(math.inf, found.worst, found.at_points)


@dataclass(frozen=True)
class _Rows:
    """Points in order of ε: ends of both profiles and of the right one's slope in γ, over η."""

    at: FloatArray
    above: FloatArray
    """Left, its upper end."""
    below: FloatArray
    """Right, its lower end."""
    gentle: FloatArray
    """−slope of the right, its lower end."""
    steep: FloatArray
    """−slope of the right, its upper end."""

    @classmethod
    def of(cls, left: Profile, right: Profile, epsilon: FloatArray, log_eta: float) -> _Rows:
        above = left.log_delta(epsilon).upper - log_eta
        below = right.log_delta(epsilon).lower - log_eta
        slope = right.log_tails(epsilon).log_q
        accuracy = right.tail_accuracy + 4.0 * UNIT_ROUNDOFF  # of the slope, and of two sums that it enters
        slack = accuracy * (1.0 + np.abs(np.where(np.isneginf(slope), 0.0, slope)))
        return cls(
            epsilon,
            _up(above),
            _down(below),
            _down(slope - slack - log_eta),
            _up(slope + slack - log_eta),
        )

    def joined(self, others: _Rows) -> _Rows:
        at = np.concatenate([self.at, others.at])
        order = np.argsort(at, kind="stable")
        columns = ("above", "below", "gentle", "steep")
        return _Rows(at[order], *(np.concatenate([getattr(self, n), getattr(others, n)])[order] for n in columns))

    def bounds(self) -> FloatArray:
        """Return for each cell an upper bound on (left − right)/η."""
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
        alone = np.minimum(np.maximum(first_left, first_right), np.maximum(second_left, second_right))
        size = self.above[first] + self.above[second] + self.below[first] + self.below[second] + fall + rise
        return np.asarray(np.minimum(mixed, alone) + _TERMS * UNIT_ROUNDOFF * size)


def _up(log_value: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        value = np.exp(log_value)
    return np.asarray(value * (1.0 + 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))))


def _down(log_value: FloatArray) -> FloatArray:
    value = np.exp(np.minimum(log_value, 700.0))
    return np.asarray(value * (1.0 - 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))))
