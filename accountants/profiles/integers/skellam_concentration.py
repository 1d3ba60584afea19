"""Zero-concentrated privacy of Skellam noise, from its table.

Condition both P and its shift P_k on the outcomes y with |y| ≤ R and |y − k| ≤ R. By symmetry they have one probability
S under both, so the losses stay the same. The conditioned pair has K(α) = log E_P[e^{(α − 1) L}] with K(0) = K(1) = 0.
Let K(α) ≤ c k² α (α − 1) for every α > 1. Then several coordinates are c ‖k‖²-zCDP, and E_γ is at most 1 − S + S E_γ of
the conditioned pairs.

K is convex, so between two orders it is below its chord. The largest quotient of the chord and α (α − 1) is in closed
form. Below the first order the chord from α = 1 is used. Beyond the last one K(α) ≤ (α − 1) B for the largest loss B.

With t = α − 1 and E_P[1 − e^{−L}] = 0, e^K − 1 = E_P[(e^{tL} − 1) + t (e^{−L} − 1)]. Every term is positive and grows
with |L|, so errors of the losses are charged by raising |L|. Source: docs/integer-noise.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from epsilond.accountants.profiles.integers.skellam_table import SkellamTable, skellam_table

_FIRST, _RATIO = 1e-3, 1.05
"""Least order minus 1, which makes ρ at most a thousandth too large, and quotient of neighbouring orders minus 1."""
_LARGEST_EXPONENT = 600.0
"""Largest exponent [nat] of the sum of positive terms; a sum of logarithms is used beyond it."""
MOST_SHIFTS, MOST_WORK = 256, 2.0**20
"""Largest shift that is compared, and largest number of outcomes of all shifts together: some seconds of work."""


@lru_cache(maxsize=16)
def skellam_concentration(variance: float, largest: int) -> float | None:
    """Return the constant c for which Skellam noise and its shift by an integer vector k are c ‖k‖²-zCDP.

    This holds on the outcomes that the table of the noise lists, given that they occur.

    Args:
        variance: variance μ of the noise.
        largest: largest coordinate of k.

    Returns:
        The constant; None if it takes too much work.
    """
    table = skellam_table(variance)
    if largest > MOST_SHIFTS or 2 * largest >= table.reach or 2.0 * table.reach * largest > MOST_WORK:
        return None
    return max(_constant(table, shift) for shift in range(1, largest + 1)) * (1.0 + 1e-9)


def _constant(table: SkellamTable, shift: int) -> float:
    """Return a c for which Skellam noise and its shift by k are c k²-zCDP on the listed outcomes.

    ρ-zCDP means that the Rényi divergence of every order α is at most ρ α. Let K(α) = log E[e^{(α − 1)L}] be the log
    moment of the loss L. Then c is an upper bound on K(α)/(k² α (α − 1)) over all orders α > 1. Orders grow by the
    factor `_RATIO` in α − 1, until the bound by the largest loss is enough.

    Args:
        table: probabilities of the noise.
        shift: shift k ≥ 1.

    Returns:
        The constant c.
    """
    outcomes = np.arange(float(shift - table.reach), table.reach + 1.0)
    losses = table.losses(outcomes, shift)
    losses += np.sign(losses) * table.error
    masses = np.exp(-table.falls[np.abs(outcomes).astype(np.int64)])
    masses /= masses.sum()
    most, least = float(losses.max()), float(losses.min())

    def log_moment(t: float) -> float:
        """Return an upper bound on K at the order 1 + t."""
        if max(t * most, -least) <= _LARGEST_EXPONENT:
            terms = np.expm1(t * losses) + t * np.expm1(-losses)
            return math.log1p(float(masses @ terms) * (1.0 + 1e-8 + 8.0 * table.error))
        with np.errstate(divide="ignore"):
            exponents = np.log(masses) + t * losses
        return float(np.logaddexp.reduce(exponents)) * (1.0 + 1e-8) + 8.0 * table.error

    t, previous = _FIRST, log_moment(_FIRST)
    largest = previous / _FIRST
    while most > largest * (1.0 + t):
        following = log_moment(t * _RATIO)
        largest = max(largest, largest_quotient((1.0 + t, previous), (1.0 + t * _RATIO, following)))
        t, previous = t * _RATIO, following
    return largest / shift**2


def largest_quotient(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the largest K(α)/(α (α − 1)) between two orders, with the chord of K in place of the convex function K.

    Args:
        first: order α and K there.
        second: a larger order and K there.
    """
    (low, at_low), (high, at_high) = first, second
    slope = (at_high - at_low) / (high - low)
    constant = at_low - slope * low
    # The derivative vanishes where s α² + 2mα − m = 0, for the chord m + s α.
    square = constant * constant + slope * constant
    stationary = (math.sqrt(square) - constant) / slope if square > 0.0 and slope > 0.0 else low
    orders = [low, high, min(max(stationary, low), high)]
    return max((constant + slope * order) / (order * (order - 1.0)) for order in orders) * (1.0 + 1e-9)
