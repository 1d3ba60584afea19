"""The bound on δ from ρ-zero-concentrated privacy (ρ-zCDP), and the order of the Rényi divergence that gives it.

ρ-zCDP bounds E_{e^ε} by the least over a > 1 of e^{(a−1)(aρ−ε)} (1 − 1/a)^a/(a − 1) (Canonne, Kamath and Steinke 2020,
Corollary 13). With b = a − 1, the minimiser is the root of (2b + 1) ρ + log(b/(1 + b)) = ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp, log_difference

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_STEPS = 120
"""Largest number of Newton steps or bisections. It is enough for bisections alone, to the last digit."""
_FEW = 16
"""Largest number of ε that are solved one after another, which is quicker for few of them."""
LARGEST_EXPONENT = 709.0
"""Largest exponent, rounded down, at which the exponential function does not overflow."""


def minimiser(rho: float, epsilon: FloatArray) -> FloatArray:
    """Find the order of the Rényi divergence that gives the least bound on δ from ρ-zCDP at each ε.

    ρ-zCDP bounds the Rényi divergence of every order a by ρ a. The best order is a = b + 1, where b solves:

        (2b + 1) ρ + log(b/(1 + b)) = ε.

    It is computed by Newton's method in log b, within a bracket.

    Args:
        rho: ρ, in (0, 1e9].
        epsilon: array of ε in nats, in [0, 1e9].

    Returns:
        log b for each ε, to a few units in the last place, in an array of the shape of `epsilon`.
    """
    points = np.asarray(epsilon, dtype=np.float64)
    if points.size <= _FEW:
        values = [minimiser_at(rho, value) for value in points.ravel().tolist()]
        return np.asarray(values, dtype=np.float64).reshape(points.shape)

    # A bracket of log b: the left side of the equation minus ε changes its sign in it.
    low = np.minimum(points - rho, 0.0) - 1.0 - math.log1p(2.0 * rho)
    high = np.log(points / (2.0 * rho) + 1.0 / math.sqrt(2.0 * rho))
    log_b = 0.5 * (low + high)
    for _ in range(_STEPS):
        b = np.exp(log_b)
        # log(b/(1 + b)), in a form without cancellation for b below and above 1.
        odds_below = log_b - np.log1p(b)
        odds_above = -np.log1p(np.exp(-np.maximum(log_b, 0.0)))
        log_odds_of_b = np.where(log_b < 0.0, odds_below, odds_above)

        # The left side of the equation increases with b.
        excess = (2.0 * b + 1.0) * rho - points + log_odds_of_b
        slope = 2.0 * rho * b + 1.0 / (1.0 + b)
        low, high = np.where(excess <= 0, log_b, low), np.where(excess > 0, log_b, high)

        # A step of Newton's method that leaves the bracket is replaced by the middle of the bracket.
        newton = log_b - excess / slope
        is_inside = (newton > low) & (newton < high)
        next_log_b = np.where(is_inside, newton, 0.5 * (low + high))
        if np.all(np.abs(next_log_b - log_b) <= UNIT_ROUNDOFF * (1.0 + np.abs(log_b))):
            break
        log_b = next_log_b
    return np.asarray(log_b)


def minimiser_at(rho: float, epsilon: float, *, near: float = UNIT_ROUNDOFF) -> float:
    """Find the order of the Rényi divergence that gives the least bound on δ from ρ-zCDP at one ε.

    The order is b + 1, where b solves (2b + 1) ρ + log(b/(1 + b)) = ε. It is computed by Newton's method in log b. A
    step that leaves the bracket of the root is replaced by a bisection.

    Args:
        rho: ρ > 0 of the guarantee.
        epsilon: ε ≥ 0, in nats.
        near: step of log b, relative to 1 + |log b|, below which the iteration ends.

    Returns:
        The natural logarithm of b.
    """
    # A bracket of log b: the left side of the equation minus ε changes its sign in it.
    low = min(epsilon - rho, 0.0) - 1.0 - math.log1p(2.0 * rho)
    high = math.log(epsilon / (2.0 * rho) + 1.0 / math.sqrt(2.0 * rho))
    log_b = 0.5 * (low + high)
    if epsilon > 3.0 * rho:
        # log(b/(1 + b)) is then small, and the root is close to (ε − ρ)/(2ρ).
        log_b = min(max(math.log((epsilon - rho) / (2.0 * rho)), low), high)

    for _ in range(_STEPS):
        b = math.exp(min(log_b, LARGEST_EXPONENT))
        excess = (2.0 * b + 1.0) * rho - epsilon + log_odds(b, log_b)
        if excess <= 0.0:
            low = log_b
        else:
            high = log_b

        # The derivative of the left side with respect to b, times b, is that with respect to log b.
        slope = 2.0 * rho * b + 1.0 / (1.0 + b)
        next_log_b = log_b - excess / slope
        if not low < next_log_b < high:
            next_log_b = 0.5 * (low + high)
        if abs(next_log_b - log_b) <= near * (1.0 + abs(log_b)):
            break
        log_b = next_log_b
    return log_b


def log_odds(b: float, log_b: float) -> float:
    """Return log(b/(1 + b)) without cancellation.

    Args:
        b: a number above 0.
        log_b: its natural logarithm.
    """
    if log_b < 0.0:
        return log_b - math.log1p(b)
    return -math.log1p(math.exp(-log_b))


def concentrated_log_delta(rho: float, epsilon: FloatArray) -> FloatArray:
    """Return the logarithm of the least bound on δ(ε) that follows from ρ-zCDP.

    Every order of the Rényi divergence gives a valid bound, so the order need not be exactly the best one. The error is
    at most 16 units of roundoff times 1 + |value| + b ε, where b + 1 is the order.

    Args:
        rho: ρ, in (0, 1e9].
        epsilon: array of ε in nats, in [0, 1e9].

    Returns:
        One natural logarithm for each ε. It may be above 0.
    """
    return log_bound_at_order(rho, np.asarray(epsilon, dtype=np.float64), minimiser(rho, epsilon))


def log_bound_at_order(rho: float, epsilon: FloatArray, log_b: FloatArray) -> FloatArray:
    """Return the logarithm of the bound on δ from ρ-zCDP at the order b + 1 of the Rényi divergence.

    It is b ((b + 1) ρ − ε) − log b − (b + 1) log(1 + 1/b).

    Args:
        rho: ρ > 0.
        epsilon: array of ε ≥ 0, in nats.
        log_b: log b for each ε.

    Returns:
        One logarithm for each ε, not rounded outward. It may be above 0.
    """
    b = np.exp(log_b)
    # −log b − (b + 1) log(1 + 1/b), in a form without cancellation for b below and above 1.
    for_small = b * log_b - (b + 1.0) * np.log1p(b)
    for_large = -log_b - (b + 1.0) * np.log1p(np.exp(-np.maximum(log_b, 0.0)))
    log_factor = np.where(log_b < 0.0, for_small, for_large)
    exponent = b * ((b + 1.0) * rho - epsilon)
    return np.asarray(exponent + log_factor)


class Chord(NamedTuple):
    """Straight line in e^ε that replaces an upper bound on δ between −ε₀ and ε₀.

    An upper bound on δ(ε) need not be the privacy profile of a pair of distributions P and Q. With the chord it is one,
    and can be composed.

    Attributes:
        epsilon: ε₀ ≥ 0, in nats.
        log_delta: log of the bound on δ at ε₀.
        log_q: log of the chord's slope times −1. It is log Q(L > ε) for the privacy loss L of that pair, at every ε
            between −ε₀ and ε₀.
    """

    epsilon: float
    log_delta: float
    log_q: float

    @classmethod
    def ending_at(cls, epsilon: float, log_delta: float) -> Chord:
        """Return the chord between −ε₀ and ε₀, from a bound on δ(ε₀) that holds in both directions.

        Because of both directions, δ(−ε₀) = 1 − e^−ε₀ + e^−ε₀ δ(ε₀). The slope between the two points is:

            −(1 − δ(ε₀))/(1 + e^ε₀).

        Args:
            epsilon: ε₀ ≥ 0, in nats.
            log_delta: log of an upper bound on δ(ε₀).
        """
        log_slope = float(log1m_exp(log_delta)) - float(np.logaddexp(epsilon, 0.0))
        return cls(epsilon, log_delta, log_slope)

    def log_bound(self, epsilon: FloatArray) -> FloatArray:
        """Return the log of the bound on δ along the chord, δ(ε₀) + (e^ε₀ − e^ε) Q, for ε up to ε₀.

        Args:
            epsilon: values of ε in nats; those above ε₀ count as ε₀.

        Returns:
            Logs of the bound, of the shape of `epsilon`.
        """
        inside = np.minimum(epsilon, self.epsilon)
        log_rise = log_difference(np.full_like(inside, self.epsilon), inside) + self.log_q
        return np.asarray(np.logaddexp(self.log_delta, log_rise))
