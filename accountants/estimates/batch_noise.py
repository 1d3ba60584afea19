"""Initial estimates of the noise of runs with batches of fixed size. They decide only where a search starts.

Under replace-one, a round that draws K of n records has δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both directions. Here
q = K/n, and δ₀ is that of N(μ, 1) against N(0, 1).

Let w be the likelihood ratio of this Gaussian pair minus one. At small rates, the likelihood ratio of the round minus
one is about ±q w for w > 0, with both signs equally likely. Its variance is 2 q² E[w²; w > 0], and not q² E[w²] as with
Poisson batches. At rate 1 it is q² E[w²], and in between it is interpolated (`_batch_variance`). The central limit
theorem then gives a first estimate of the noise, and secant steps on an estimate of δ (`delta.py`) improve it to within
about 1e-5.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.estimates.delta import likely_log_delta_of_batches
from epsilond.accountants.estimates.noise import LARGEST_RATIO, STEEPEST, central_mu, likely_noise, rise
from epsilond.accountants.numerics.root_search import bisect_reals

if TYPE_CHECKING:
    from epsilond.accountants.target import Target

_BATCH_HALVINGS = 40
"""Number of bisections of log noise between an estimate and its double. The last bracket is narrower than 1e-12."""
_SMALL_MU = 1e-3
"""μ of one batch below which the variance of its likelihood ratio is taken from the first two terms."""
_STEP = 1e-3
"""Distance in log μ of each of two points from their middle, for a difference quotient."""
_SECANTS, _CLOSE, _LONGEST = 10, 1e-6, 0.7
"""Limit on the secant steps, size of the last step, and longest step, in log noise."""
_SHORT = 4e-5
"""Decrease of log noise below its estimate, so that the first trial of a search misses the target by little."""
_LEAST_SLOPE = 0.1
"""Least slope of the secant method, which limits steps where the function is flat."""
_KEPT = 64
"""Number of stored results."""


class _Root(NamedTuple):
    """An estimate of the noise that meets a target, with the slope of δ there.

    Attributes:
        log_noise: natural logarithm of the noise multiplier.
        slope: −d log |log δ|/d log noise at this noise, below 0.
    """

    log_noise: float
    slope: float


class _Trial(NamedTuple):
    """One step of the search for a noise that meets a target δ*.

    Attributes:
        log_noise: natural logarithm of the noise multiplier.
        excess: log |log δ| − log |log δ*| at this noise. It is 0 at the root.
    """

    log_noise: float
    excess: float


def likely_noise_of_batches(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """Estimate the noise multiplier that meets a target with batches of fixed size.

    The estimate is the noise at which the estimated δ is the target δ, slightly decreased. The first trial of a search
    from it then misses the target, and the next one meets it.

    Args:
        target: ε and δ.
        rate: inclusion probability q in (0, 1].
        rounds: number of rounds, at least 1.
        distance: sensitivity of the mechanism in clipping norms: 2 if a record is replaced.

    Returns:
        The standard deviation of the noise in clipping norms. If the search has no root, it is the estimate by the
        central limit theorem.
    """
    root = _root(target, rate, rounds, distance)
    if root is None:
        return _central_noise(target, rate, rounds, distance)
    return math.exp(root.log_noise - _SHORT)


def likely_slope_of_batches(target: Target, *, rate: float, rounds: int, noise: float, distance: float) -> float:
    """Estimate how fast δ falls as the noise grows: −d log |log δ|/d log noise, for batches of fixed size.

    A search uses the slope for its first step. It is the slope at the target's ε, at the noise that is estimated to
    meet the target. If there is no such estimate, the central limit theorem gives the slope at `noise`.

    Args:
        target: ε and δ.
        rate: inclusion probability q, in (0, 1].
        rounds: number of rounds, at least 1.
        noise: first estimate of the noise multiplier, in clipping norms.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        The slope, below 0.
    """
    root = _root(target, rate, rounds, distance)
    if root is None:
        return _central_slope(target, rate, noise, distance)
    return root.slope


@functools.lru_cache(maxsize=_KEPT)
def _root(target: Target, rate: float, rounds: int, distance: float) -> _Root | None:
    """Solve for the noise multiplier at which the estimated δ of a run is the target's.

    The batches have a fixed size. The search starts with the noise and the slope by the central limit theorem.

    Args:
        target: ε and δ.
        rate: inclusion probability q, in (0, 1].
        rounds: number of rounds, at least 1.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        The logarithm of the noise, and the slope there; None if q = 1 or δ = 1, or if the steps do not converge or
        leave the range of doubles.
    """
    if rate == 1.0 or not target.log_delta < 0.0:
        return None
    noise = _central_noise(target, rate, rounds, distance)
    slope = -_central_slope(target, rate, noise, distance)
    try:
        return _secant_search(target, rate, rounds, distance, math.log(noise), slope)
    except (ArithmeticError, ValueError):
        return None


def _secant_search(
    target: Target, rate: float, rounds: int, distance: float, log_noise: float, slope: float
) -> _Root | None:
    """Find the noise at which the estimated δ is that of the target, by the secant method.

    The unknown is log noise, and the target δ is δ*. δ is estimated by `likely_log_delta_of_batches`. The excess,
    log |log δ| − log |log δ*|, increases with the noise and is 0 at the root.

    Args:
        target: ε and δ*.
        rate: inclusion probability q, in (0, 1).
        rounds: number of rounds.
        distance: sensitivity of the mechanism in clipping norms.
        log_noise: natural logarithm of the first noise.
        slope: d log |log δ|/d log noise there, above 0.

    Returns:
        The root; None if the steps do not converge.
    """
    log_target = math.log(-target.log_delta)
    tilt = 1.0  # parameter of the estimate of δ, from which the next estimate starts
    previous: _Trial | None = None
    for _ in range(_SECANTS):
        mu = distance / math.exp(log_noise)
        log_delta, tilt = likely_log_delta_of_batches(target.epsilon, mu=mu, rate=rate, rounds=rounds, start=tilt)
        excess = math.log(-log_delta) - log_target

        # Update the slope from the previous trial, and take a secant step of limited length.
        if previous is not None and previous.log_noise != log_noise:
            secant = (excess - previous.excess) / (log_noise - previous.log_noise)
            slope = max(secant, _LEAST_SLOPE)
        step = -min(max(excess / slope, -_LONGEST), _LONGEST)
        has_converged = previous is not None and abs(step) <= _CLOSE
        if has_converged:
            return _Root(log_noise + step, -min(slope, STEEPEST))
        previous = _Trial(log_noise, excess)
        log_noise += step
    return None


def _central_noise(target: Target, rate: float, rounds: int, distance: float) -> float:
    """Estimate the noise multiplier of a run with batches of fixed size by the central limit theorem.

    Many rounds are about μ-Gaussian differentially private, where μ² is the number of rounds times the variance of the
    likelihood ratio of one round. The noise at which this variance is μ²/rounds is found by bisection.

    Args:
        target: ε and δ, which give μ.
        rate: inclusion probability q in (0, 1].
        rounds: number of rounds, at least 1.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        The standard deviation of the noise in clipping norms. At rate 1, or if the noise is very small, it is the
        estimate for Poisson batches.
    """
    poisson_noise = likely_noise(target, rate=rate, rounds=rounds, distance=distance)
    if rate == 1.0 or distance / poisson_noise > LARGEST_RATIO:
        return poisson_noise
    variance_of_round = (central_mu(target) / rate) ** 2 / rounds
    is_too_little = functools.partial(_exceeds_variance, rate=rate, distance=distance, variance=variance_of_round)
    # Batches of fixed size take between one and two times the noise of Poisson batches.
    start = math.log(poisson_noise)
    _, log_noise = bisect_reals(is_too_little, start, start + math.log(2.0), steps=_BATCH_HALVINGS)
    return math.exp(log_noise)


def _central_slope(target: Target, rate: float, noise: float, distance: float) -> float:
    """Estimate −d log |log δ|/d log noise for batches of fixed size by the central limit theorem.

    It is the product of two slopes: that of log |log δ| in log μ, and that of log μ in log noise. The second one is
    half that of the log variance of a round, because μ² is proportional to the variance. It is a difference quotient.

    Args:
        target: ε and δ.
        rate: inclusion probability q, in (0, 1].
        noise: estimate of the noise multiplier, in clipping norms.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        The slope, between −`STEEPEST` and −0.1.
    """
    mu = min(distance / noise, LARGEST_RATIO)
    smaller = _batch_variance(mu * math.exp(-_STEP), rate)
    larger = _batch_variance(mu * math.exp(_STEP), rate)
    fall_of_log_mu = 0.25 * math.log(larger / smaller) / _STEP  # half the slope over an interval of width 2 `_STEP`
    return -min(max(rise(target) * fall_of_log_mu, _LEAST_SLOPE), STEEPEST)


def _batch_variance(mu: float, rate: float) -> float:
    """Estimate the variance of the likelihood ratio of one round with a batch of fixed size, divided by q².

    Let w be the likelihood ratio of N(μ, 1) against N(0, 1), minus 1. The result is E[w²] at q = 1, and tends to
    2 E[w²; w > 0] as q tends to 0. In between it is linear in q.

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn, in (0, 1].

    Returns:
        The variance over q².
    """
    variance_at_one = math.expm1(mu * mu)
    if mu < _SMALL_MU:  # the terms of the exact formula cancel
        variance_at_zero = mu * mu * (1.0 + math.sqrt(2.0 / math.pi) * mu)
    else:
        # With 1 + w the likelihood ratio, E[w²; w > 0] = E[(1 + w)²; w > 0] − 2 E[1 + w; w > 0] + P(w > 0).
        ratio_squared = math.exp(mu * mu) * _normal_cdf(1.5 * mu)
        variance_at_zero = 2.0 * (ratio_squared - 2.0 * _normal_cdf(0.5 * mu) + _normal_cdf(-0.5 * mu))
    return variance_at_one + (1.0 - rate) * (variance_at_zero - variance_at_one)


def _exceeds_variance(log_noise: float, *, rate: float, distance: float, variance: float) -> bool:
    """Return whether the variance of one round's likelihood ratio is above a given one, for a bisection.

    Both are divided by q², as in `_batch_variance`. The variance decreases with the noise.

    Args:
        log_noise: natural logarithm of the noise multiplier.
        rate: probability q that a contribution is drawn.
        distance: sensitivity of the mechanism in clipping norms.
        variance: the variance to compare with, divided by q².

    Returns:
        True if the noise is too small.
    """
    return _batch_variance(distance / math.exp(log_noise), rate) > variance


def _normal_cdf(x: float) -> float:
    """Return the standard normal distribution function Φ(x), the probability that N(0, 1) is at most x."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
