"""Conversions between zero-concentrated differential privacy (zCDP) and (ε, δ).

One is Lemma 2.6 of Reshef and Levy, who write ρ for μ. The other is that of Canonne, Kamath and Steinke, which is
tighter. Both apply to every μ²/2-zCDP mechanism, such as a μ-Gaussian differentially private one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from epsilond.accountants.numerics.outward import raise_by_units
from epsilond.accountants.numerics.root_search import brent_root
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray
from epsilond.accountants.profiles.declared.concentrated_bound import concentrated_log_delta

MOST_NEWTON_STEPS = 100
"""Largest number of Newton steps; 100 halvings of the bracket would reach the last digit of a double."""

_SMALL_LOG_MU = -100.0
"""The ln μ below which the bound for small μ is used. Its log δ is too large by less than μ, if ln δ ≥ −1e10."""

_MOST_LOG_MU = 40.0
"""Largest ln μ of the search, at which the δ of zCDP is 1 for every ε ≤ 1e9."""

_MOST_LOG_RATIO = 300.0
"""Largest ln(ε/μ) for which (ε/μ)² is computed; beyond it δ is below e^(−e^599)."""


def lemma_epsilon(*, mu: float, log_delta: float) -> float:
    """Compute the ε of a μ²/2-zCDP mechanism at a δ by Lemma 2.6 of Reshef and Levy.

    It is ε = μ²/2 + μ√(2 ln(1/δ)).

    Args:
        mu: μ ≥ 0.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The ε in nats, rounded up by six units of roundoff.
    """
    return raise_by_units(mu * (0.5 * mu + math.sqrt(-2.0 * log_delta)), 6.0)


def lemma_order(*, mu: float, log_delta: float) -> float:
    """Compute the Rényi order 1 + √(2 ln(1/δ))/μ that Lemma 2.6 of Reshef and Levy uses for a μ²/2-zCDP mechanism.

    Args:
        mu: μ ≥ 0.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The order, above 1; infinite at μ = 0.
    """
    if mu <= 0.0:
        return math.inf
    return 1.0 + math.sqrt(-2.0 * log_delta) / mu


def lemma_mu(*, epsilon: float, log_delta: float) -> float:
    """Compute the largest μ for which Lemma 2.6 of Reshef and Levy gives (ε, δ) to a μ²/2-zCDP mechanism.

    It is:

        μ = 2ε/(√(2(ln(1/δ) + ε)) + √(2 ln(1/δ))).

    Args:
        epsilon: ε ≥ 0, in nats.
        log_delta: natural logarithm of δ, below 0.

    Returns:
        The μ up to rounding; it is not rounded down.
    """
    sum_of_roots = math.sqrt(2.0 * (epsilon - log_delta)) + math.sqrt(-2.0 * log_delta)
    return 2.0 * epsilon / sum_of_roots


def zcdp_epsilon(mu: FloatArray, log_delta: FloatArray) -> FloatArray:
    """Compute an ε ≥ 0 at which every μ²/2-zCDP mechanism is (ε, δ)-private, elementwise.

    Let ρ = μ²/2, and 1 + b the Rényi order that is best for the conversion of Canonne, Kamath and Steinke. Then:

        ε = (b + 1)ρ + ln(b/(1 + b)) + (ln(1/δ) − ln(1 + b))/b.

    Every b gives a valid bound, so b need not be exact.

    Args:
        mu: array of μ in (0, 1e4].
        log_delta: array of ln δ in [−1e10, 0).

    Returns:
        One ε for each entry of the broadcast arrays.
    """
    mus, log_deltas = np.broadcast_arrays(np.asarray(mu, dtype=np.float64), np.asarray(log_delta, dtype=np.float64))
    rho = 0.5 * mus * mus
    log_inverse_delta = -log_deltas
    excess_order = np.exp(_log_best_order(rho, log_inverse_delta))  # b
    by_delta = (log_inverse_delta - np.log1p(excess_order)) / excess_order
    epsilon = (excess_order + 1.0) * rho + by_delta - np.log1p(1.0 / excess_order)
    return np.asarray(np.maximum(epsilon, 0.0))


def _log_best_order(rho: FloatArray, log_inverse_delta: FloatArray) -> FloatArray:
    """Compute ln b, elementwise, where 1 + b is the Rényi order that gives the least ε of ρ-zCDP at δ.

    The order solves:

        ρb² + ln(1 + b) = ln(1/δ).

    Newton's method is applied in ln b, with bisection instead of a step that would leave the bracket of the root. At
    the lower end of the first bracket, each term on the left is at most ln(1/δ)/2. At the upper end, one of them is
    ln(1/δ).

    Args:
        rho: parameter ρ > 0 of zCDP.
        log_inverse_delta: ln(1/δ) > 0.
    """

    def log_order_with_terms_up_to(value: FloatArray) -> FloatArray:
        """Return the largest ln b at which neither ρb² nor ln(1 + b) exceeds `value`."""
        return np.minimum(0.5 * np.log(value / rho), _log_expm1(value))

    low = log_order_with_terms_up_to(0.5 * log_inverse_delta)
    high = log_order_with_terms_up_to(log_inverse_delta)
    log_order = 0.5 * (low + high)  # ln b
    for _ in range(MOST_NEWTON_STEPS):
        order = np.exp(log_order)
        excess = rho * order * order + np.log1p(order) - log_inverse_delta
        low = np.where(excess <= 0.0, log_order, low)
        high = np.where(excess > 0.0, log_order, high)

        slope = 2.0 * rho * order * order + order / (1.0 + order)  # of the excess, in ln b
        by_newton, by_bisection = log_order - excess / slope, 0.5 * (low + high)
        is_inside = (by_newton > low) & (by_newton < high)
        new_log_order = np.where(is_inside, by_newton, by_bisection)
        # The iteration ends when the steps are as small as the rounding errors.
        if np.all(np.abs(new_log_order - log_order) <= UNIT_ROUNDOFF * (1.0 + np.abs(log_order))):
            break
        log_order = new_log_order
    return log_order


def _log_expm1(value: FloatArray) -> FloatArray:
    """Compute ln(e^x − 1) for each x > 0, without overflow for large x and without cancellation for small x."""
    for_large = value + np.log1p(-np.exp(-np.maximum(value, 1.0)))
    for_small = np.log(np.expm1(np.minimum(value, 1.0)))
    return np.asarray(np.where(value > 1.0, for_large, for_small))


def zcdp_mu(*, epsilon: float, log_delta: float) -> float:
    """Compute the largest μ for which the conversion of zCDP gives (ε, δ) to every μ²/2-zCDP mechanism, rounded down.

    The conversion is that of Canonne, Kamath and Steinke. Its δ at ε increases in μ, so ln μ is found as a root.

    Args:
        epsilon: ε, in nats.
        log_delta: natural logarithm of δ.

    Returns:
        A lower bound of μ; 0 if the largest μ is below every positive double.
    """

    def excess(log_mu: float) -> float:
        """Return an upper bound of log δ at ε, minus the requested log δ, plus a margin for rounding errors."""
        if log_mu < _SMALL_LOG_MU:
            upper_log_delta = _small_log_delta(log_mu, epsilon)
        else:
            upper_log_delta = float(concentrated_log_delta(0.5 * math.exp(2.0 * log_mu), np.asarray(epsilon)))
        return upper_log_delta - log_delta + 64 * UNIT_ROUNDOFF * (1.0 - log_delta)

    # Bracket the root ln μ, starting from the μ of Lemma 2.6 of Reshef and Levy.
    least_double = math.ulp(0.0)
    start = math.log(max(lemma_mu(epsilon=epsilon, log_delta=log_delta), least_double))
    bracket = _bracket_root(excess, start)
    if bracket is None:
        return 0.0

    # Solve for ln μ to about the last digits, and round down by more than the error of the root and of the exponential.
    root = brent_root(excess, *bracket, absolute=1e-15, relative=8.9e-16)
    return math.exp(root) * (1.0 - 16 * UNIT_ROUNDOFF * (1.0 + abs(root)))


def _bracket_root(excess: Callable[[float], float], start: float) -> tuple[float, float] | None:
    """Return two values of ln μ between which an increasing function changes its sign.

    The search moves from a start in steps of doubling size.

    Args:
        excess: increasing function of ln μ; it is positive at `_MOST_LOG_MU`.
        start: first ln μ.

    Returns:
        The lower and the upper value, or None if the function is positive already where μ is the smallest double.
    """
    smallest = math.log(math.ulp(0.0))
    step = 0.5
    low = high = max(start, smallest)
    # Move the lower bound down until the function is not positive there.
    while excess(low) > 0.0:
        if low == smallest:
            return None
        low = max(low - step, smallest)
        step *= 2.0
    # Move the upper bound up until the function is positive there. The lower bound follows.
    while excess(high) <= 0.0:
        low, high = high, min(high + step, _MOST_LOG_MU)
        step *= 2.0
    return low, high


def _small_log_delta(log_mu: float, epsilon: float) -> float:
    """Compute an upper bound of log δ at ε for every ρ-zCDP mechanism with a small ρ = μ²/2.

    For every b > 0, the Rényi order 1 + b gives the bound:

        b ((b + 1) ρ − ε) − log b − (b + 1) log(1 + 1/b).

    Let b = β/μ and t = ε/μ. Since (b + 1) log(1 + 1/b) ≥ 1, this is at most:

        log μ + β²/2 − βt − log β − 1 + βμ/2.

    Without the last term, it is least where β² − βt = 1. At this β, it is log μ − β²/2 − log β + βμ/2.

    Args:
        log_mu: ln μ, so small that μ itself may underflow.
        epsilon: ε ≥ 0, in nats.

    Returns:
        The bound; −∞ if ln(ε/μ) exceeds `_MOST_LOG_RATIO`, where log δ is below −e^599.
    """
    log_ratio = -math.inf
    if epsilon > 0.0:
        log_ratio = math.log(epsilon) - log_mu
    if log_ratio > _MOST_LOG_RATIO:
        return -math.inf
    ratio = math.exp(log_ratio)
    beta = 0.5 * (ratio + math.hypot(ratio, 2.0))
    return log_mu - 0.5 * beta * beta - math.log(beta) + 0.5 * beta * math.exp(log_mu)
