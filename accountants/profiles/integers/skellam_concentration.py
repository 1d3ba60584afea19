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

_FIRST = 1e-3
"""Least order minus 1, which makes ρ at most a thousandth too large."""
_RATIO = 1.05
"""Quotient of neighbouring orders minus 1."""
_LARGEST_EXPONENT = 600.0
"""Largest exponent [nat] of the sum of positive terms; a sum of logarithms is used beyond it."""
MOST_SHIFTS = 256
"""Largest shift that is compared."""
MOST_WORK = 2.0**20
"""Largest number of outcomes of all shifts together: some seconds of work."""


@lru_cache(maxsize=16)
def skellam_concentration(variance: float, largest: int) -> float | None:
    """Return a constant c for which Skellam noise and its shift by an integer vector k are c ‖k‖²-zCDP.

    ρ-zCDP bounds the Rényi divergence of every order α by ρ α. The noise is tabulated at the integers from −R to R, and
    has hardly any probability beyond. The constant is for the distributions conditioned on the table.

    Args:
        variance: variance μ of the noise.
        largest: largest absolute value of a coordinate of k.

    Returns:
        The constant, rounded up. None if its computation takes too much work, or a coordinate is at least R/2.
    """
    table = skellam_table(variance)
    number_of_outcomes = 2.0 * table.reach * largest
    if largest > MOST_SHIFTS or 2 * largest >= table.reach or number_of_outcomes > MOST_WORK:
        return None
    rounding = 1.0 + 1e-9  # far above the rounding errors of the quotients
    return max(_concentration_at_shift(table, shift) for shift in range(1, largest + 1)) * rounding


def _concentration_at_shift(table: SkellamTable, shift: int) -> float:
    """Return a constant c for which Skellam noise and its shift by k are c k²-zCDP, for one k.

    ρ-zCDP bounds the Rényi divergence of every order α by ρ α. With the privacy loss L, c is an upper bound on:

        K(α)/(k² α (α − 1)),  K(α) = log E[e^{(α − 1) L}],

    over all orders α > 1.

    Args:
        table: probabilities of the noise.
        shift: shift k ≥ 1.

    Returns:
        c, before its last rounding.
    """
    # Every term of the moment grows with |L|, so moving the losses away from 0 by their error gives an upper bound.
    outcomes = np.arange(float(shift - table.reach), table.reach + 1.0)
    losses = table.losses(outcomes, shift)
    losses += np.sign(losses) * table.error
    masses = np.exp(-table.falls[np.abs(outcomes).astype(np.int64)])
    # By symmetry the listed outcomes have the same total probability under the noise and its shift. So the losses do
    # not change when both are conditioned on the listed outcomes.
    masses /= masses.sum()
    largest_loss, least_loss = float(losses.max()), float(losses.min())

    def log_moment(t: float) -> float:
        """Return an upper bound on K at the order 1 + t, by positive terms if their exponentials do not overflow."""
        if max(t * largest_loss, -least_loss) <= _LARGEST_EXPONENT:
            # E[e^{tL}] − 1 = E[(e^{tL} − 1) + t (e^{−L} − 1)], as E[e^{−L}] = 1. These terms are not negative. The
            # factor 1 + 1e-8 + … exceeds the errors of the sum and of the probabilities.
            terms = np.expm1(t * losses) + t * np.expm1(-losses)
            return math.log1p(float(masses @ terms) * (1.0 + 1e-8 + 8.0 * table.error))
        with np.errstate(divide="ignore"):
            exponents = np.log(masses) + t * losses
        return float(np.logaddexp.reduce(exponents)) * (1.0 + 1e-8) + 8.0 * table.error

    # K is convex and K(1) = 0, so its chords bound K below the first order and between two orders α = 1 + t. Beyond the
    # last order K is at most t times the largest loss. So the loop ends when this is at most `largest`.
    t, moment = _FIRST, log_moment(_FIRST)
    largest = moment / _FIRST
    while largest_loss > largest * (1.0 + t):
        next_t = t * _RATIO
        next_moment = log_moment(next_t)
        quotient_between = largest_quotient((1.0 + t, moment), (1.0 + next_t, next_moment))
        largest = max(largest, quotient_between)
        t, moment = next_t, next_moment
    return largest / shift**2


def largest_quotient(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return an upper bound on K(α)/(α (α − 1)) between two orders, for a convex function K.

    The bound is the largest quotient of the chord of K, which is nowhere below K between the two orders.

    Args:
        low: order α > 1 and the value of K there.
        high: a larger order and the value of K there.

    Returns:
        The bound, rounded up.
    """
    low_order, low_value = low
    high_order, high_value = high
    slope = (high_value - low_value) / (high_order - low_order)
    constant = low_value - slope * low_order

    # For the chord m + s α, the derivative of the quotient is 0 where s α² + 2mα − m = 0.
    discriminant = constant * constant + slope * constant
    stationary = low_order
    if discriminant > 0.0 and slope > 0.0:
        stationary = (math.sqrt(discriminant) - constant) / slope
    orders = [low_order, high_order, min(max(stationary, low_order), high_order)]
    rounding = 1.0 + 1e-9  # far above the rounding errors of the chord
    return max((constant + slope * order) / (order * (order - 1.0)) for order in orders) * rounding
