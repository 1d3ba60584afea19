"""Upper bounds on a profile by finitely many hinges, whose composition with a Gaussian has a closed form.

    F(γ) = p_∞ + Σ p_i (1 − γ/γ_i)₊,   p_i ≥ 0,   with F ≥ E_γ(g) at every γ ≥ 0.

F is a function and need not be a profile. Composed with any pair h,

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
    """Upper bound F(γ) = p_∞ + Σ p_i (1 − γ/γ_i)₊ on a privacy profile E_γ, with γ = e^ε.

    Attributes:
        losses: log γ_i, increasing. The doubles are exact.
        masses: p_i ≥ 0, the weight of each term.
        infinite: p_∞ ≥ 0, the mass at infinite privacy loss.
    """

    losses: FloatArray
    masses: FloatArray
    infinite: float

    @property
    def total(self) -> float:
        """F(0), rounded up."""
        return (self.infinite + float(self.masses.sum())) * _PADDED


def hinges_of(pair: Pair, eta: float, area: float = GOOD_AREA) -> tuple[Hinges, ...]:
    """Return the upper bound F on the privacy profile, for each direction of a pair (one if both are equal).

    Args:
        pair: dominating pair of one step. If it has atoms, the hinges are placed at their losses.
        eta: η of the step. Tails that are small compared with η are counted as infinite losses.
        area: aimed area between F and the profile, as a share of the area below the profile.
    """
    directions = [_Values(pair.forward, pair.backward)]
    if not pair.symmetric:
        directions.append(_Values(pair.backward, pair.forward))
    if pair.atoms is None or not pair.atoms.losses:
        points = [values.place_points(eta, area) for values in directions]
    else:
        atoms = np.unique(np.asarray(pair.atoms.losses))
        points = [atoms, np.sort(-atoms)]
    return tuple(_hinges(at, values.at(at)) for values, at in zip(directions, points, strict=False))


@dataclass(frozen=True)
class _Values:
    """Upper bounds on the profile E_γ of one direction of a pair at γ = e^l, for losses l of any sign.

    Attributes:
        forward: profile of this direction, which is evaluated at l ≥ 0.
        backward: profile of the other direction. It gives E at l < 0, as E_γ = 1 − γ + γ E′_{1/γ}.
    """

    forward: Profile
    backward: Profile

    def at(self, losses: FloatArray) -> FloatArray:
        """Return E at these losses, rounded up."""
        values = np.empty(losses.size)
        above = losses >= 0.0
        if above.any():
            values[above] = np.exp(self.forward.log_delta(losses[above]).upper)
        if not above.all():
            below = losses[~above]
            reflected = np.exp(self.backward.log_delta(-below).upper)
            values[~above] = -np.expm1(below) + np.exp(below) * reflected
        return np.asarray(np.minimum(values * (1.0 + 64 * UNIT_ROUNDOFF), 1.0))

    def place_points(self, eta: float, good: float) -> FloatArray:
        """Return increasing losses between which E is nearly linear in γ, at most `MOST_HINGES` of them.

        A cell is halved if the area between its chord and E is estimated to exceed its share of the total.

        Args:
            eta: η of the step. Tails that are small compared with it get no losses.
            good: aimed area between the chords and E, divided by the area between E and the trivial profile.
        """
        at, values, total_area = self._first_points(eta)
        gaps = np.full(at.size - 1, math.inf)
        for _ in range(_ROUNDS):
            share = good * total_area / max(at.size, 64)
            wide = np.flatnonzero(gaps > share)
            room = MOST_HINGES - at.size
            if wide.size == 0 or room <= 0:
                break
            wide = np.sort(wide[np.argsort(-gaps[wide])[:room]])
            middles = 0.5 * (at[wide] + at[wide + 1])
            middle_values = self.at(middles)
            left, right = at[wide], at[wide + 1]
            weight = -np.expm1(middles - right) / -np.expm1(left - right)  # of the left bound, on the chord in γ
            chord = weight * values[wide] + (1.0 - weight) * values[wide + 1]
            # Each half gets an eighth of the area between chord and parabola in the cell, which is 2/3 gap × width.
            area = np.abs(chord - middle_values) * (right - left) / 6.0
            gaps[wide] = 0.5 * area
            gaps = np.insert(gaps, wide + 1, 0.5 * area)
            at = np.insert(at, wide + 1, middles)
            values = np.insert(values, wide + 1, middle_values)
        return at

    def _first_points(self, eta: float) -> tuple[FloatArray, FloatArray, float]:
        """Evaluate E at the fixed losses `FIRST` of both signs, and select the range that matters.

        Args:
            eta: η of the step. Losses at which E is negligible compared with η, or equal to 1 − γ, are dropped.

        Returns:
            The losses, E at them, and the area between E and the profile (1 − γ)₊ of a mechanism without any loss.
        """
        at = np.concatenate([-FIRST[::-1], [0.0], FIRST])
        values = self.at(at)
        above = values - np.maximum(-np.expm1(np.minimum(at, 0.0)), 0.0)  # of the profile without any loss
        first = int(np.argmax(above > _NEGLIGIBLE * eta * 1e-3))
        last = max(int(np.argmax(values <= _NEGLIGIBLE * eta)) or at.size - 1, first)
        relevant = slice(max(first - 1, 0), last + 1)
        at, values, above = at[relevant], values[relevant], above[relevant]
        return at, values, float(np.sum(0.5 * (above[1:] + above[:-1]) * np.diff(at)))


def _hinges(at: FloatArray, values: FloatArray) -> Hinges:
    """Return the function F with its corners on the lower convex hull of points on or above E.

    The mass p_∞ is raised until F is above all points despite rounding.

    Args:
        at: increasing losses.
        values: upper bounds on E at the losses.
    """
    gamma = np.exp(at)
    hull = _hull(np.concatenate([[0.0], gamma]), np.concatenate([[1.0], values]))
    chosen = np.asarray(hull[1:]) - 1
    at, values, gamma = at[chosen], values[chosen], gamma[chosen]
    slopes = np.diff(np.concatenate([[1.0], values])) / np.diff(np.concatenate([[0.0], gamma]))
    masses = np.maximum(gamma * np.diff(np.append(slopes, 0.0)), 0.0)
    inside = masses > 0.0
    at_hinges, masses = at[inside], masses[inside]
    units = (at.size + 64) * UNIT_ROUNDOFF
    masses = masses * (1.0 + 4.0 * units)  # exceeds the rounding errors of F
    reached = np.maximum(-np.expm1(np.minimum(at[:, None] - at_hinges, 0.0)), 0.0) @ masses * (1.0 - units)
    infinite = max(float(np.max(values - reached)), 1.0 - float(masses.sum()) * (1.0 - units), 0.0)
    return Hinges(at_hinges, masses, infinite * (1.0 + 8 * UNIT_ROUNDOFF))


def _hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the indices of the points of the lower convex hull, from left to right (Andrew's monotone chain).

    Args:
        x: increasing abscissas.
        y: ordinates.
    """
    hull: list[int] = []
    for index in range(x.size):
        while len(hull) >= 2:
            before, last = hull[-2], hull[-1]
            if (y[last] - y[before]) * (x[index] - x[last]) >= (y[index] - y[last]) * (x[last] - x[before]):
                hull.pop()
            else:
                break
        hull.append(index)
    return hull
