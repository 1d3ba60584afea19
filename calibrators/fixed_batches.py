"""Where the search for the noise of batches of fixed size starts, under replace-one: guesses that decide nothing else.

Drawing K of n leaves a contribution δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both orders, q = K/n. Of the pair with this
profile the likelihood ratio less one is about ±q w at small rates, either sign as likely, where w = e^ℓ − 1 > 0 is that
of the inner Gaussian pair. Its variance is 2 q² E[w²; w > 0], and not q² E[w²] as under the central limit of
composition with Poisson batches; at rate 1 it is the latter, and between them the difference is taken times 1 − q.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.calibrators.search import STEEPEST, central_mu, likely_noise, rise

if TYPE_CHECKING:
    from epsilond.calibrators.problem import Target

_HALVINGS = 40
_LARGEST_SQUARE = 500.0
_SMALL = 1e-3
"""An inner μ below which the variance is taken from its first two terms."""
_STEP = 1e-3


def likely_noise_of_batches(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """A guess at the noise multiplier; `distance` is the relation's sensitivity factor."""
    usual = likely_noise(target, rate=rate, rounds=rounds, distance=distance)
    if rate == 1.0 or (distance / usual) ** 2 > _LARGEST_SQUARE:
        return usual
    wanted = (central_mu(target) / rate) ** 2 / rounds
    low, high = math.log(usual), math.log(usual) + math.log(2.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _variance(distance / math.exp(middle), rate) > wanted else (low, middle)
    return math.exp(high)


def likely_slope_of_batches(target: Target, *, rate: float, noise: float, distance: float) -> float:
    """About the slope of log |log δ| by the logarithm of the noise, at a noise multiplier that is likely."""
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
