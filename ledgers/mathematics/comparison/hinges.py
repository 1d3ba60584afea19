"""Upper bounds on a profile by finitely many hinges, with closed forms for their compositions with a Gaussian.

    F(γ) = p_∞ + Σ p_i (1 − γ/γ_i)₊,   p_i ≥ 0,   with F ≥ E_γ(g) at every γ ≥ 0.

Here g is a dominating pair, and E_γ(g) = ∫ (p_g − γ q_g)₊ is its hockey-stick divergence, the profile at γ = e^ε. A
hinge is a term p_i (1 − γ/γ_i)₊. F is a function and need not be a profile. Composed with any pair h = (p_h, q_h):

    (g ⊗ h)(γ) = ∫ p_h E_{γ q_h/p_h}(g) ≤ p_∞ + Σ p_i E_{γ/γ_i}(h),

because each value under the integral is raised. F is above E at every γ if F ≥ E at each γ_i and F(0) ≥ 1: between two
hinges F is linear and E convex, and beyond the last one F = p_∞ while E decreases (docs/ledger.md, "Residue charges").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

MOST_HINGES = 600
FIRST = 2.0 ** np.arange(-22.0, 8.0)
"""Absolute losses of both signs at which a profile is evaluated first."""
GOOD_AREA, ROUGH_AREA = 1.5e-4, 3e-3
"""Area between F and E divided by the area below E, which is about what F adds to a small charge, relatively."""
_ROUNDS = 12
"""Largest number of rounds, each of which halves the cells with the largest areas."""
_NEGLIGIBLE = 1e-3
"""Largest mass at infinite losses, as a share of η."""
_PADDED = 1.0 + 2.0**-40
"""Factor above the rounding error of a sum of up to `MOST_HINGES` masses."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Piecewise linear upper bound F(γ) on a privacy profile, δ as a function of γ = e^ε.

    F(γ) = p_∞ + Σ p_i (1 − γ/γ_i)₊, where (x)₊ is x if x is positive, and otherwise 0. Each term of the sum is a hinge:
    it falls linearly until γ_i and is 0 beyond. Such a bound can be composed with a Gaussian in closed form.

    Attributes:
        losses: log γ_i, increasing: the privacy losses at the corners. The doubles are exact.
        masses: p_i ≥ 0, the weight of each term.
        infinite: p_∞ ≥ 0, the mass at infinite privacy loss.
    """

    losses: FloatArray
    masses: FloatArray
    infinite: float

    @property
    def total(self) -> float:
        """F(0), rounded up: the sum of all masses, including that at infinite loss."""
        return (self.infinite + float(self.masses.sum())) * _PADDED


def hinges_of(pair: Pair, eta: float, area: float = GOOD_AREA) -> tuple[Hinges, ...]:
    """Return a piecewise linear upper bound F(γ) on the privacy profile δ, γ = e^ε, for each direction of a pair.

    F is a sum of hinges, that is, of terms p_i max(1 − γ/γ_i, 0). A hinge has a corner at the privacy loss log γ_i.

    Args:
        pair: dominating pair of one run of a mechanism. If its losses are discrete, the corners are at these losses.
        eta: η, the δ that may be neglected. Tails far below η are counted as infinite losses.
        area: goal for the area between F and δ, as a fraction of the area between δ and max(1 − γ, 0), the profile of a
            mechanism without any loss. It has no effect on discrete losses.

    Returns:
        One function F if the pair is symmetric; otherwise two, one for each direction.
    """
    directions = [_ProfileBound(pair.forward, pair.backward)]
    if not pair.symmetric:
        directions.append(_ProfileBound(pair.backward, pair.forward))

    # In the other direction, discrete losses have the opposite sign.
    if pair.atoms is None or not pair.atoms.losses:
        losses = [bound.place_losses(eta, area) for bound in directions]
    else:
        atoms = np.unique(np.asarray(pair.atoms.losses))
        losses = [atoms, np.sort(-atoms)]
    bounds = []
    # For a symmetric pair, which has one direction, the second list of losses is not used.
    for direction, points in zip(directions, losses, strict=False):
        values = direction.evaluate(points)
        bounds.append(_hinges_above(points, values))
    return tuple(bounds)


@dataclass(frozen=True)
class _ProfileBound:
    """Upper bound on the profile E_γ of one direction of a pair at γ = e^l, for losses l of any sign.

    Attributes:
        forward: profile of this direction, which is evaluated at l ≥ 0.
        backward: profile E′ of the other direction. It gives E at l < 0, as E_γ = 1 − γ + γ E′_{1/γ}.
    """

    forward: Profile
    backward: Profile

    def evaluate(self, losses: FloatArray) -> FloatArray:
        """Return upper bounds, at most 1, on the privacy profile E_γ at γ = e^l for given losses l.

        At l < 0 it is E_γ = 1 − γ + γ E′_{1/γ}, where E′ is the profile of the other direction.

        Args:
            losses: losses l in nats, of any sign.

        Returns:
            One bound for each loss.
        """
        values = np.empty(losses.size)
        is_positive = losses >= 0.0
        if is_positive.any():
            values[is_positive] = np.exp(self.forward.log_delta(losses[is_positive]).upper)
        if not is_positive.all():
            negative = losses[~is_positive]
            reflected = np.exp(self.backward.log_delta(-negative).upper)
            values[~is_positive] = -np.expm1(negative) + np.exp(negative) * reflected
        # 64 units of roundoff are a margin for the few operations.
        return np.asarray(np.minimum(values * (1.0 + 64 * UNIT_ROUNDOFF), 1.0))

    def place_losses(self, eta: float, aimed_area: float) -> FloatArray:
        """Choose privacy losses l, in increasing order, between which the profile E is nearly linear in γ = e^l.

        They will be the corners of a piecewise linear bound on E. The range of losses is divided into cells. A cell is
        halved if the area between E and its chord exceeds the cell's share of the aimed area, as estimated from the
        last halving.

        Args:
            eta: η, a δ. Tails of E that are small compared with it get no corners.
            aimed_area: aimed area between the chords and E over the losses l. It is divided by the area between E and
                max(1 − γ, 0), the profile of a mechanism without any loss.

        Returns:
            The losses, about `MOST_HINGES` at most.
        """
        losses, values, total_area = self._first_losses(eta)
        areas = np.full(losses.size - 1, math.inf)  # between chord and E in each cell; not estimated yet
        for _ in range(_ROUNDS):
            # If few losses may be added, the cells with the largest areas are halved first.
            largest_area = aimed_area * total_area / max(losses.size, 64)  # at least 64 cells share the aimed area
            room = MOST_HINGES - losses.size
            cells = np.flatnonzero(areas > largest_area)
            if cells.size == 0 or room <= 0:
                break
            by_decreasing_area = np.argsort(-areas[cells])
            cells = np.sort(cells[by_decreasing_area[:room]])

            left = losses[cells]
            right = losses[cells + 1]
            middles = 0.5 * (left + right)
            middle_values = self.evaluate(middles)
            chord = _chord_at(middles, left, right, values[cells], values[cells + 1])

            # A parabola has the area 2/3 · gap · width from its chord, and each of its halves an eighth of that.
            gaps = np.abs(chord - middle_values)
            half_areas = 0.5 * (gaps * (right - left) / 6.0)
            areas[cells] = half_areas
            areas = np.insert(areas, cells + 1, half_areas)
            losses = np.insert(losses, cells + 1, middles)
            values = np.insert(values, cells + 1, middle_values)
        return losses

    def _first_losses(self, eta: float) -> tuple[FloatArray, FloatArray, float]:
        """Evaluate the privacy profile E_γ, γ = e^loss, at a first set of losses, and select the relevant range.

        The losses are 0 and ±`FIRST`. Large losses with E at most 10⁻³ η are dropped, except the first. Negative losses
        are dropped while E exceeds 1 − γ by at most 10⁻⁶ η, except the last.

        Args:
            eta: η, the δ that decides which values of E are negligible.

        Returns:
            The losses, E at them, and the area between E and the profile max(1 − γ, 0) of a mechanism without any loss.
        """
        losses = np.concatenate([-FIRST[::-1], [0.0], FIRST])
        values = self.evaluate(losses)
        trivial_profile = np.maximum(-np.expm1(np.minimum(losses, 0.0)), 0.0)
        height = values - trivial_profile

        least_height = _NEGLIGIBLE * eta * 1e-3  # 10⁻⁶ η
        first_relevant = int(np.argmax(height > least_height))
        last_relevant = int(np.argmax(values <= _NEGLIGIBLE * eta))
        if last_relevant == 0:  # E is negligible nowhere
            last_relevant = losses.size - 1
        last_relevant = max(last_relevant, first_relevant)
        relevant = slice(max(first_relevant - 1, 0), last_relevant + 1)  # with one negligible loss on each side
        losses = losses[relevant]
        values = values[relevant]
        height = height[relevant]
        mean_heights = 0.5 * (height[1:] + height[:-1])
        area = float(np.sum(mean_heights * np.diff(losses)))  # trapezoidal rule
        return losses, values, area


def _chord_at(
    middles: FloatArray, left: FloatArray, right: FloatArray, at_left: FloatArray, at_right: FloatArray
) -> FloatArray:
    """Interpolate a privacy profile linearly in γ = e^l between two privacy losses l, in many cells at once.

    At the loss l, the value at `left` has the weight (1 − e^(l − right))/(1 − e^(left − right)). It is linear in γ, and
    is 1 at `left` and 0 at `right`.

    Args:
        middles: one loss l within each cell.
        left: smallest loss of each cell.
        right: largest loss of each cell.
        at_left: values of the profile at `left`.
        at_right: values of the profile at `right`.

    Returns:
        One value for each cell: that of the line between the profile's values at both losses.
    """
    from_right = -np.expm1(middles - right)
    whole_cell = -np.expm1(left - right)
    left_weight = from_right / whole_cell
    return np.asarray(left_weight * at_left + (1.0 - left_weight) * at_right)


def _hinges_above(losses: FloatArray, values: FloatArray) -> Hinges:
    """Return a convex piecewise linear upper bound F on a privacy profile E, from points on or above E.

    The corners of F are those of the lower convex hull of the points, in γ = e^loss. Between two corners γ_i < γ_{i+1},
    F has the slope s_i of the hull; beyond the last corner it is constant. So F(γ) = p_∞ + Σ p_i max(1 − γ/γ_i, 0) with
    the masses p_i = γ_i (s_i − s_{i−1}). The mass p_∞ is raised until F is above all points despite rounding.

    Args:
        losses: increasing losses.
        values: upper bounds on E at the losses.

    Returns:
        The corners of F and the weights of its terms.
    """
    # Corners of the lower convex hull of the points and of F(0) = 1, without the point at γ = 0.
    gamma = np.exp(losses)
    hull = _lower_hull(np.concatenate([[0.0], gamma]), np.concatenate([[1.0], values]))
    corners = np.asarray(hull[1:]) - 1
    losses = losses[corners]
    values = values[corners]
    gamma = gamma[corners]

    # Corners at which the slope does not change have no mass, and are dropped.
    slopes = np.diff(np.concatenate([[1.0], values])) / np.diff(np.concatenate([[0.0], gamma]))
    slope_changes = np.diff(np.append(slopes, 0.0))
    masses = np.maximum(gamma * slope_changes, 0.0)
    has_mass = masses > 0.0
    hinge_losses = losses[has_mass]
    masses = masses[has_mass]
    rounding = (losses.size + 64) * UNIT_ROUNDOFF  # relative error of a sum over the hinges
    masses = masses * (1.0 + 4.0 * rounding)  # more than the rounding errors of F

    # Raise p_∞ by the largest amount by which F, rounded down, is below a point.
    terms = np.maximum(-np.expm1(np.minimum(losses[:, None] - hinge_losses, 0.0)), 0.0)  # max(1 − γ/γ_i, 0)
    finite_part = terms @ masses * (1.0 - rounding)
    largest_gap = float(np.max(values - finite_part))
    gap_at_zero = 1.0 - float(masses.sum()) * (1.0 - rounding)
    infinite = max(largest_gap, gap_at_zero, 0.0)
    # 8 units of roundoff exceed the rounding of the subtraction and of the last product.
    return Hinges(hinge_losses, masses, infinite * (1.0 + 8 * UNIT_ROUNDOFF))


def _lower_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the indices of the points of the lower convex hull, from left to right (Andrew's monotone chain).

    The lower hull is the largest convex function that is at most all the points.

    Args:
        x: increasing abscissas.
        y: ordinates.

    Returns:
        Indices in increasing order. The first and the last point are always among them.
    """
    hull: list[int] = []
    for new in range(x.size):
        # Drop the last points of the hull that are on or above the line to the new point.
        while len(hull) >= 2 and _is_on_or_above_line(x, y, hull[-2], hull[-1], new):
            hull.pop()
        hull.append(new)
    return hull


def _is_on_or_above_line(x: FloatArray, y: FloatArray, first: int, middle: int, last: int) -> bool:
    """Return whether the middle one of three points is on or above the line through the other two.

    The two slopes are compared after multiplication by both widths, so that no quotient is rounded.

    Args:
        x: increasing coordinates of all points.
        y: values at these points.
        first: index of the first point.
        middle: index of the middle point.
        last: index of the last point.

    Returns:
        True if the slope before the middle point is at least the slope after it.
    """
    slope_before = (y[middle] - y[first]) * (x[last] - x[middle])
    slope_after = (y[last] - y[middle]) * (x[middle] - x[first])
    return bool(slope_before >= slope_after)
