"""Where the search for the noise of batches of fixed size starts, under replace-one: guesses that decide nothing else.

Drawing K of n leaves a contribution δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both orders, q = K/n. Of the pair with this
profile the likelihood ratio less one is about ±q w at small rates, either sign as likely, where w = e^ℓ − 1 > 0 is that
of the inner Gaussian pair. Its variance is 2 q² E[w²; w > 0], and not q² E[w²] as under the central limit of
composition with Poisson batches; at rate 1 it is the latter, and between them the difference is taken times 1 − q.

From there secant steps on an estimate of δ itself (`batches.py`) lead to within about 1e-5 of the noise.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.estimates.batches import likely_log_delta_of_batches
from epsilond.accountants.estimates.central_limit import STEEPEST, central_mu, likely_noise, rise
from epsilond.accountants.numerics.root_search import bisect_reals

if TYPE_CHECKING:
    from epsilond.accountants.estimates.target import Target

_HALVINGS = 40
_LARGEST_SQUARE = 500.0
_SMALL = 1e-3
"""An inner μ below which the variance is taken from its first two terms."""
_STEP = 1e-3
_SECANTS, _CLOSE, _LONGEST = 10, 1e-6, 0.7
"""Secant steps at most, how small the last is, and the longest, of log noise."""
_SHORT = 4e-5
"""Of log noise, less than is likely: the first trial should miss the target, so that it shows the next to be least."""
_LEAST_SLOPE = 0.1
_KEPT = 64


class _Root(NamedTuple):
    """The logarithm of the noise at which δ is likely to be the target's, and the slope of log |log δ| there."""

    log_noise: float
    slope: float


def likely_noise_of_batches(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """A guess at the noise multiplier; `distance` is the relation's sensitivity factor."""
    root = _root(target, rate, rounds, distance)
    return _central_noise(target, rate, rounds, distance) if root is None else math.exp(root.log_noise - _SHORT)


def likely_slope_of_batches(target: Target, *, rate: float, rounds: int, noise: float, distance: float) -> float:
    """About the slope of log |log δ| by the logarithm of the noise, at a noise multiplier that is likely."""
    root = _root(target, rate, rounds, distance)
    return _central_slope(target, rate, noise, distance) if root is None else root.slope


@functools.lru_cache(maxsize=_KEPT)
def _root(target: Target, rate: float, rounds: int, distance: float) -> _Root | None:
    """By secant steps from the central limit; None where no step settles, or nothing is drawn at random."""
    if rate == 1.0 or not target.log_delta < 0.0:
        return None
    wanted, tilt = math.log(-target.log_delta), 1.0
    noise = _central_noise(target, rate, rounds, distance)
    here, slope = math.log(noise), -_central_slope(target, rate, noise, distance)
    before: tuple[float, float] | None = None
    try:
        for _ in range(_SECANTS):
            log_delta, tilt = likely_log_delta_of_batches(
                target.epsilon, mu=distance / math.exp(here), rate=rate, rounds=rounds, start=tilt
            )
            excess = math.log(-log_delta) - wanted
            if before is not None and before[0] != here:
                slope = max((excess - before[1]) / (here - before[0]), _LEAST_SLOPE)
            step = -min(max(excess / slope, -_LONGEST), _LONGEST)
            if before is not None and abs(step) <= _CLOSE:
                return _Root(here + step, -min(slope, STEEPEST))
            before, here = (here, excess), here + step
    except (ArithmeticError, ValueError):
        return None
    return None


def _central_noise(target: Target, rate: float, rounds: int, distance: float) -> float:
    """By the central limit."""
    usual = likely_noise(target, rate=rate, rounds=rounds, distance=distance)
    if rate == 1.0 or (distance / usual) ** 2 > _LARGEST_SQUARE:
        return usual
    wanted = (central_mu(target) / rate) ** 2 / rounds

    def too_little(log_noise: float) -> bool:
        """Tell whether the variance at this noise is above the target's."""
        return _variance(distance / math.exp(log_noise), rate) > wanted

    start = math.log(usual)
    return math.exp(bisect_reals(too_little, start, start + math.log(2.0), steps=_HALVINGS)[1])


def _central_slope(target: Target, rate: float, noise: float, distance: float) -> float:
    """By the central limit."""
    mu = min(distance / noise, math.sqrt(_LARGEST_SQUARE))
    less = _variance(mu * math.exp(-_STEP), rate)
    fall = 0.25 * math.log(_variance(mu * math.exp(_STEP), rate) / less) / _STEP
    return -min(max(rise(target) * fall, 0.1), STEEPEST)


def _variance(mu: float, rate: float) -> float:
    """Of the likelihood ratio of one round, over q²."""
    whole = math.expm1(mu * mu)
    if mu < _SMALL:
        upper = mu * mu * (1.0 + math.sqrt(2.0 / math.pi) * mu)
    else:
        upper = 2.0 * (math.exp(mu * mu) * _below(1.5 * mu) - 2.0 * _below(0.5 * mu) + _below(-0.5 * mu))
    return whole + (1.0 - rate) * (upper - whole)


def _below(place: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-place / math.sqrt(2.0))
