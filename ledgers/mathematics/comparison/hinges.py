"""A mechanism's profile from above, by finitely many hinges: what it becomes beside a Gaussian is then a closed form.

    F(γ) = p_∞ + Σ p_i (1 − γ/γ_i)₊,   p_i ≥ 0,   with F ≥ E_γ(g) at every γ ≥ 0,

F being a function and not always a profile. Beside any pair h

    (g ⊗ h)(γ) = ∫ p_h E_{γ q_h/p_h}(g) ≤ p_∞ + Σ p_i E_{γ/γ_i}(h),

as each value under the integral is raised. F lies above E at every γ if it does so at each γ_i and F(0) ≥ 1: between
two of them F is linear and E convex, and beyond the last F is p_∞ and E falls (docs/ledger.md, "Residue charges").
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
"""Losses at which a profile is read first, of both signs."""
GOOD_AREA, ROUGH_AREA = 1.5e-4, 3e-3
"""The area between F and E beside that below E: about what F adds to a small charge, relatively."""
_ROUNDS = 12
_NEGLIGIBLE = 1e-3
"""Of η, which mass at infinite losses may take."""
_PADDED = 1.0 + 2.0**-40


@dataclass(frozen=True, eq=False)
class Hinges:
    """F of one order of a pair.

    Attributes:
        losses: log γ_i, increasing, exactly these doubles.
        masses: p_i ≥ 0.
        infinite: p_∞ ≥ 0.
    """

    losses: FloatArray
    masses: FloatArray
    infinite: float

    @property
    def total(self) -> float:
        """F(0), rounded up."""
        return (self.infinite + float(self.masses.sum())) * _PADDED


def hinges_of(pair: Pair, eta: float, area: float = GOOD_AREA) -> tuple[Hinges, ...]:
    """F of each order of a pair.

    `eta` says which tails may be counted as infinite losses, `area` how close F is, as `GOOD_AREA`.
    """
    orders = [(pair.forward, pair.backward)]
    if not pair.symmetric:
        orders.append((pair.backward, pair.forward))
    known = None if pair.atoms is None or not pair.atoms.losses else np.unique(np.asarray(pair.atoms.losses))
    found = []
    for place, (one, other) in enumerate(orders):
        values = _Values(one, other)
        at = values.laid(eta, area) if known is None else np.sort(known if place == 0 else -known)
        found.append(_hinges(at, values.at(at)))
    return tuple(found)


@dataclass(frozen=True)
class _Values:
    """Upper ends of E_γ at γ = e^l, l of any sign."""

    one: Profile
    other: Profile

    def at(self, losses: FloatArray) -> FloatArray:
        """E, rounded up."""
        found = np.empty(losses.size)
        above = losses >= 0.0
        if above.any():
            found[above] = np.exp(self.one.log_delta(losses[above]).upper)
        if not above.all():
            below = losses[~above]
            turned = np.exp(self.other.log_delta(-below).upper)
            found[~above] = -np.expm1(below) + np.exp(below) * turned
        return np.asarray(np.minimum(found * (1.0 + 64 * UNIT_ROUNDOFF), 1.0))

    def laid(self, eta: float, good: float) -> FloatArray:
        """Losses between which E is nearly straight in γ, in as many cells as that takes, within a bound."""
        at = np.concatenate([-FIRST[::-1], [0.0], FIRST])
        values = self.at(at)
        above = values - np.maximum(-np.expm1(np.minimum(at, 0.0)), 0.0)  # of the profile of no loss
        first = int(np.argmax(above > _NEGLIGIBLE * eta * 1e-3))
        last = max(int(np.argmax(values <= _NEGLIGIBLE * eta)) or at.size - 1, first)
        at, values = at[max(first - 1, 0) : last + 1], values[max(first - 1, 0) : last + 1]
        above = above[max(first - 1, 0) : last + 1]
        whole = float(np.sum(0.5 * (above[1:] + above[:-1]) * np.diff(at)))
        gaps = np.full(at.size - 1, math.inf)
        for _ in range(_ROUNDS):
            share = good * whole / max(at.size, 64)
            wide = np.flatnonzero(gaps > share)
            room = MOST_HINGES - at.size
            if wide.size == 0 or room <= 0:
                break
            wide = np.sort(wide[np.argsort(-gaps[wide])[:room]])
            middles = 0.5 * (at[wide] + at[wide + 1])
            read = self.at(middles)
            left, right = at[wide], at[wide + 1]
            weight = -np.expm1(middles - right) / -np.expm1(left - right)  # of the left end, on the chord in γ
            chord = weight * values[wide] + (1.0 - weight) * values[wide + 1]
            area = np.abs(chord - read) * (right - left) / 6.0  # of each half: an eighth of two thirds of the whole's
            gaps[wide] = 0.5 * area
            gaps = np.insert(gaps, wide + 1, 0.5 * area)
            at, values = np.insert(at, wide + 1, middles), np.insert(values, wide + 1, read)
        return at


def _hinges(at: FloatArray, values: FloatArray) -> Hinges:
    """F through the lower hull of points above E, with p_∞ raised until it is above them, whatever was rounded."""
    gamma = np.exp(at)
    kept = _hull(np.concatenate([[0.0], gamma]), np.concatenate([[1.0], values]))
    chosen = np.asarray(kept[1:]) - 1
    at, values, gamma = at[chosen], values[chosen], gamma[chosen]
    slopes = np.diff(np.concatenate([[1.0], values])) / np.diff(np.concatenate([[0.0], gamma]))
    masses = np.maximum(gamma * np.diff(np.append(slopes, 0.0)), 0.0)
    inside = masses > 0.0
    at_hinges, masses = at[inside], masses[inside]
    units = (at.size + 64) * UNIT_ROUNDOFF
    masses = masses * (
        1.0 + 4.0 * units
    )  # more than all roundings of F take away, where F is large and where it is not
    reached = np.maximum(-np.expm1(np.minimum(at[:, None] - at_hinges, 0.0)), 0.0) @ masses * (1.0 - units)
    infinite = max(float(np.max(values - reached)), 1.0 - float(masses.sum()) * (1.0 - units), 0.0)
    return Hinges(at_hinges, masses, infinite * (1.0 + 8 * UNIT_ROUNDOFF))


def _hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the indices of the points of the lower convex hull, in order."""
    kept: list[int] = []
    for place in range(x.size):
        while len(kept) >= 2:
            one, two = kept[-2], kept[-1]
            if (y[two] - y[one]) * (x[place] - x[two]) >= (y[place] - y[two]) * (x[two] - x[one]):
                kept.pop()
            else:
                break
        kept.append(place)
    return kept
