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
    """Bounds on the largest difference of two privacy profiles δ(ε), left minus right, divided by a permitted η.

    Both profiles are evaluated at finitely many ε, the points.

    Attributes:
        upper: certified upper bound on the difference at every ε ≥ 0; math.inf if none was computed.
        worst: ε of the point with the largest difference, in nats.
        at_points: largest difference at a point, a lower bound up to rounding errors.
    """

    upper: float
    worst: float
    at_points: float

    @property
    def holds(self) -> bool:
        """True if the left profile is at most the right profile plus η at every ε ≥ 0."""
        return self.upper <= 1.0


def excess(left: Profile, right: Profile, log_eta: float, last: float) -> Excess:
    """Bound the amount by which one privacy profile δ(ε) exceeds another: the largest (left − right)/η over ε ≥ 0.

    The range of ε is divided into cells (intervals), and the difference is bounded in each. Cells are split until all
    bounds are at most 1, or until the difference at a point exceeds 1. All profiles are convex in e^ε, as needed here.

    Args:
        left: profile of a mechanism composed with the part of a Gaussian budget that remains after it was paid.
        right: profile of the whole Gaussian budget.
        log_eta: log η, the logarithm of the permitted excess.
        last: an ε at which the left profile is at most η.

    Returns:
        The bounds. `upper` is infinite if the left profile exceeds η at `last`, or if the cells could not be made fine
        enough.
    """
    grid = _ProfileGrid.evaluate(left, right, np.linspace(0.0, last, FIRST_CELLS + 1), log_eta)
    if not grid.left[-1] <= 1.0:  # true for NaN, too
        return Excess(math.inf, last, math.inf)
    for _ in range(MOST_ROUNDS):
        cell_bounds = grid.bound_cells()
        bound = grid.largest_excess(cell_bounds)
        failing = np.flatnonzero(~(cell_bounds <= 1.0))
        if failing.size == 0 or not bound.at_points <= 1.0:
            return bound

        # Halve the cells with larger bounds, as far as they are wide enough and points are left.
        cell_widths = np.diff(grid.epsilon)
        divisible = failing[cell_widths[failing] > _LEAST_WIDTH]
        if divisible.size == 0 or grid.epsilon.size + divisible.size > MOST_POINTS:
            break
        middles = 0.5 * (grid.epsilon[divisible] + grid.epsilon[divisible + 1])
        grid = grid.merge(_ProfileGrid.evaluate(left, right, middles, log_eta))
    return Excess(math.inf, bound.worst, bound.at_points)


@dataclass(frozen=True)
class _ProfileGrid:
    """Values of two privacy profiles δ(ε), left and right, at increasing points ε, rounded to the safe side.

    All bounds are divided by η, the permitted excess of left over right. Slopes are derivatives in γ = e^ε. Two
    neighbouring points are the bounds of a cell.

    Attributes:
        epsilon: the points.
        left: upper bounds on the left profile.
        right: lower bounds on the right profile.
        least_descent: lower bounds on the negative slope of the right profile.
        most_descent: upper bounds on the negative slope of the right profile.
    """

    epsilon: FloatArray
    left: FloatArray
    right: FloatArray
    least_descent: FloatArray
    most_descent: FloatArray

    @classmethod
    def evaluate(cls, left: Profile, right: Profile, epsilon: FloatArray, log_eta: float) -> _ProfileGrid:
        """Evaluate bounds on two privacy profiles δ(ε), and on the descent of the right one, all divided by η.

        The left profile is rounded up and the right one down, so that their difference is never too small. The descent
        is −dδ/dγ at γ = e^ε, and is bounded from both sides.

        Args:
            left: profile that may exceed the other by at most η.
            right: the other profile.
            epsilon: increasing points.
            log_eta: log η.

        Returns:
            The grid with the values at the given ε.
        """
        log_left = left.log_delta(epsilon).upper - log_eta
        log_right = right.log_delta(epsilon).lower - log_eta

        # The descent is the probability, under the second distribution, of a loss above ε.
        log_descent = right.log_tails(epsilon).log_q
        # The error is relative to 1 plus the size of the logarithm. The second term is for the two sums below.
        accuracy = right.tail_accuracy + 4.0 * UNIT_ROUNDOFF
        finite_log_descent = np.where(np.isneginf(log_descent), 0.0, log_descent)
        slack = accuracy * (1.0 + np.abs(finite_log_descent))
        return cls(
            epsilon=epsilon,
            left=_exp_above(log_left),
            right=_exp_below(log_right),
            least_descent=_exp_below(log_descent - slack - log_eta),
            most_descent=_exp_above(log_descent + slack - log_eta),
        )

    def merge(self, added: _ProfileGrid) -> _ProfileGrid:
        """Return a grid with the points of two grids and the profiles' values there, sorted by ε.

        Args:
            added: the other grid, of the same profiles and the same η.

        Returns:
            The merged grid; the given ones are not changed.
        """
        all_points = np.concatenate([self.epsilon, added.epsilon])
        order = np.argsort(all_points, kind="stable")

        def merge_columns(own: FloatArray, new: FloatArray) -> FloatArray:
            """Return the values of one column of both grids, sorted by ε."""
            return np.concatenate([own, new])[order]

        return _ProfileGrid(
            epsilon=merge_columns(self.epsilon, added.epsilon),
            left=merge_columns(self.left, added.left),
            right=merge_columns(self.right, added.right),
            least_descent=merge_columns(self.least_descent, added.least_descent),
            most_descent=merge_columns(self.most_descent, added.most_descent),
        )

    def largest_excess(self, cell_bounds: FloatArray) -> Excess:
        """Return a bound on the left minus the right privacy profile at every ε ≥ 0, divided by the permitted η.

        Beyond the last point the left profile is at most its value there, and the right profile at least 0.

        Args:
            cell_bounds: upper bound on (left − right)/η between each two neighbouring points.

        Returns:
            The bound, the ε of the point with the largest difference, and the difference there.
        """
        differences = self.left - self.right
        worst = int(np.argmax(differences))
        upper = max(cell_bounds.max(initial=0.0), self.left[-1])
        return Excess(float(upper), float(self.epsilon[worst]), float(differences[worst]))

    def bound_cells(self) -> FloatArray:
        """Return upper bounds on (left − right)/η, the scaled difference of two privacy profiles, between points of ε.

        A cell is the interval between two neighbouring points. Both profiles are convex in γ = e^ε. So in a cell the
        left profile is at most its chord, and the right one at least its tangents at both ends. Chord minus tangent is
        linear in γ, so its largest value is at an end of the cell. This also holds for each weighted mean of the two
        tangents. The mean for which this value is smallest is used.

        Returns:
            One upper bound for each cell, without unit. It includes the rounding errors of the computation.
        """
        start = slice(None, -1)
        end = slice(1, None)
        # Width of each cell in γ, from the width in ε, because differences of powers would lose digits.
        epsilon_width = np.diff(self.epsilon)
        width = np.exp(self.epsilon[start]) * np.expm1(epsilon_width)
        # 24 units are a margin for exp, expm1 and the products. expm1 multiplies the relative error of its argument by
        # at most 1 + argument.
        error = (24.0 + epsilon_width) * UNIT_ROUNDOFF
        fall = self.most_descent[start] * (width * (1.0 + error))
        rise = self.least_descent[end] * (width * (1.0 - error))

        start_tangent = _LinearDifference(
            at_start=self.left[start] - self.right[start],
            at_end=self.left[end] - (self.right[start] - fall),
        )
        end_tangent = _LinearDifference(
            at_start=self.left[start] - (self.right[end] + rise),
            at_end=self.left[end] - self.right[end],
        )

        # The rounding of the mean may make its bound larger than that of a single tangent.
        mixed = _mix(start_tangent, end_tangent).largest()
        separate = np.minimum(start_tangent.largest(), end_tangent.largest())
        sum_of_summands = self.left[start] + self.left[end] + self.right[start] + self.right[end] + fall + rise
        rounding_error = _TERMS * UNIT_ROUNDOFF * sum_of_summands  # each operation errs relative to the summands
        return np.asarray(np.minimum(mixed, separate) + rounding_error)


@dataclass(frozen=True)
class _LinearDifference:
    """Upper bound on the difference of two privacy profiles δ(ε) on several intervals of ε, the cells.

    On each cell it is a chord of the first profile minus a tangent of the second one. Both are straight lines in e^ε,
    so that two values determine the bound.

    Attributes:
        at_start: values at the smaller ε of the cells.
        at_end: values at the larger ε of the cells.
    """

    at_start: FloatArray
    at_end: FloatArray

    def largest(self) -> FloatArray:
        """Return the largest value in each cell."""
        return np.maximum(self.at_start, self.at_end)


def _mix(first: _LinearDifference, second: _LinearDifference) -> _LinearDifference:
    """Return the weighted mean of two linear functions that has equal values at both ends of each interval (cell).

    Both functions bound the same difference, and so does each weighted mean. The weight w of `first` solves:

        w f₀ + (1 − w) s₀ = w f₁ + (1 − w) s₁,

    where f₀ and s₀ are the values at the start of the cell, f₁ and s₁ those at its end. It is clipped to [0, 1], as
    only then is the mean a bound. It is 1/2 if there is no unique solution.

    Args:
        first: values of the first function at both ends of each cell.
        second: values of the second function at both ends of each cell.

    Returns:
        The weighted mean on each cell, an upper bound if both functions are upper bounds.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        second_rise = second.at_end - second.at_start
        rise_difference = (first.at_end - first.at_start) - second_rise
        weight = np.where(rise_difference != 0.0, -second_rise / rise_difference, 0.5)
    weight = np.clip(np.nan_to_num(weight, nan=0.5), 0.0, 1.0)
    return _LinearDifference(
        at_start=weight * first.at_start + (1.0 - weight) * second.at_start,
        at_end=weight * first.at_end + (1.0 - weight) * second.at_end,
    )


def _exp_above(log_value: FloatArray) -> FloatArray:
    """Return an upper bound on the exponential of each number. Only an exponential below all doubles becomes 0.0.

    The relative margin is 4 (4 + |x|) units of roundoff for x = `log_value`. It covers the error of exp, and the
    relative error of its argument, which exp multiplies by |x|.

    Args:
        log_value: exponents x, of any shape; −inf is allowed.

    Returns:
        One number for each exponent.
    """
    with np.errstate(over="ignore"):
        value = np.exp(log_value)
    # The exponential is 0.0 below −745. The limit −1000 keeps the margin finite there.
    margin = 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))
    return np.asarray(value * (1.0 + margin))


def _exp_below(log_value: FloatArray) -> FloatArray:
    """Return a lower bound on the exponential of each number, despite rounding.

    The relative margin is 4 (4 + |x|) units of roundoff for x = `log_value`, as in `_exp_above`. Exponents above 700
    are lowered to 700, so that the result is finite.

    Args:
        log_value: exponents x, any shape.

    Returns:
        One bound for each number.
    """
    value = np.exp(np.minimum(log_value, 700.0))
    margin = 4.0 * UNIT_ROUNDOFF * (4.0 + np.abs(np.maximum(log_value, -1e3)))
    return np.asarray(value * (1.0 - margin))
