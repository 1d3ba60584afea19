"""Estimates by the central limit of composition: nothing here is certified, and it decides no answer.

R rounds at rate q and noise multiplier z are about μ-Gaussian differentially private with
μ = q√(R(e^{(sensitivity/z)²} − 1)). The μ of a target is the one whose δ(ε) is that of the target.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx

from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.numerics.special import log_expm1

if TYPE_CHECKING:
    from epsilond.accountants.estimates.target import Target

_STEPS, _SMOOTH, _LONGEST, _EXACT = 120, 10, 2.0, 1e-14
"""Steps in all, those before every other one halves the bracket, and the longest."""
TARGETS_KEPT = 64
"""Targets whose μ is remembered: the noise of many runs is estimated for one target."""
SLOPE_STEP, STEEPEST = 1.01, 100.0
"""Factor of μ between the two points of a slope, and the steepest slope that a search starts with."""
HALVINGS = 39
"""Bisections of the bracket of log μ; they leave less than 1e-11 of it."""
LARGEST_EXPONENT = 709.0
"""An exponent whose exponential is still a double."""
LARGEST_RATIO = math.sqrt(500.0)
"""The largest ratio of distance and noise that a guess uses, so that the exponential of its square is a double."""
MOST_MOVES = 12
"""Moves of the bracket of log μ, which spans a factor of 256."""


def central_log_delta(epsilon: float, mu: float) -> float:
    """About log δ at ε of μ-Gaussian differential privacy (Balle and Wang 2018, Theorem 8), below 0."""
    far = epsilon / mu - 0.5 * mu
    near = 0.5 * float(erfcx((far + mu) * math.sqrt(0.5)))
    if far < 0.0:  # then 1 − δ keeps its digits
        rest = 0.5 * math.erfc(-far * math.sqrt(0.5)) + near * math.exp(-0.5 * far * far)
        return min(math.log1p(-min(rest, 1.0 - 1e-16)), -1e-300)
    tails = 0.5 * float(erfcx(far * math.sqrt(0.5))) - near
    return math.log(max(tails, 1e-300)) - 0.5 * far * far


def central_log_mu(epsilon: float, log_delta: float, start: float) -> float:
    """About the log μ at which log δ(ε) is as given, below 0: from a start, by secant steps on log |log δ|.

    That falls, and a step that leaves the bracket is halved into it: for huge ε, log δ all but jumps where the mean
    loss passes ε.
    """
    wanted = math.log(-log_delta)

    def excess(log_mu: float) -> float:
        return math.log(-central_log_delta(epsilon, math.exp(log_mu))) - wanted

    low, high = -math.inf, math.inf
    before, value_before, here = math.nan, math.nan, start
    for attempt in range(_STEPS):
        value = excess(here)
        if abs(value) <= _EXACT * (1.0 + abs(wanted)) or here in (low, high):
            break
        low, high = (here, high) if value > 0.0 else (low, here)
        change = value - value_before
        step = -value * (here - before) / change if change else 0.5 * value  # NaN at first
        if math.isnan(step):
            step = 0.5 * value
        before, value_before = here, value
        here += min(max(step, -_LONGEST), _LONGEST)
        halved = attempt >= _SMOOTH and attempt % 2 == 0
        if (halved or not low < here < high) and math.isfinite(high - low):
            here = 0.5 * (low + high)
    return here


def likely_noise(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """A guess at the noise multiplier; `distance` is the relation's sensitivity factor."""
    wanted = central_mu(target)
    if rate == 1.0:
        return distance * math.sqrt(rounds) / wanted
    log_variance = 2.0 * (math.log(wanted) - math.log(rate)) - math.log(rounds)
    return distance / math.sqrt(max(float(np.logaddexp(0.0, log_variance)), sys.float_info.min))


@functools.lru_cache(maxsize=TARGETS_KEPT)
def central_mu(target: Target) -> float:
    """The μ of which δ(ε) is as the target has it, nearly: plain differences of tails, which decide nothing.

    Source: Balle and Wang 2018, Theorem 8.
    """

    def below(log_mu: float) -> bool:
        return central_log_delta(target.epsilon, math.exp(log_mu)) < target.log_delta

    low, high = (math.log(factor * _likely_mu(target)) for factor in (1 / 16, 16.0))
    width = high - low
    for _ in range(MOST_MOVES):  # where ε is far below δ, or δ is close to 1, it lies outside
        if below(high):
            low, high = high, high + width
        elif not below(low):
            low, high = low - width, low
        else:
            break
    low, high = bisect_reals(below, low, high, steps=HALVINGS)
    return math.exp(0.5 * (low + high))


def likely_slope(target: Target, *, rate: float, noise: float, distance: float) -> float:
    """About the slope of log |log δ| by the logarithm of the noise, at a noise multiplier that is likely.

    μ falls by s²e^{s²}/(e^{s²} − 1) for each e-fold of noise, s = distance/noise, or by 1 where nothing is drawn.
    """
    square = min(distance / noise, LARGEST_RATIO) ** 2
    fall = 1.0 if rate == 1.0 else square / -math.expm1(-square)
    return -min(max(rise(target) * fall, 0.1), STEEPEST)


def rise(target: Target) -> float:
    """By how much log |log δ| falls at the target for each e-fold of μ."""
    mu = central_mu(target)
    here, there = (central_log_delta(target.epsilon, mu * factor) for factor in (1.0, SLOPE_STEP))
    return max(math.log(here / there) / math.log(SLOPE_STEP), 1e-3)


def likely_rate(target: Target, *, noise: float, rounds: int, distance: float) -> float:
    """A guess at the sampling rate, above 0 and at most 1."""
    log_rate = math.log(central_mu(target)) - 0.5 * (math.log(rounds) + _log_variance(noise, distance))
    return max(math.exp(min(log_rate, 0.0)), sys.float_info.min)


def likely_rounds(target: Target, *, noise: float, rate: float, distance: float) -> float:
    """A guess at the number of rounds, from 1 to the largest double."""
    log_rounds = 2.0 * (math.log(central_mu(target)) - math.log(rate)) - _log_variance(noise, distance)
    return math.exp(min(max(log_rounds, 0.0), LARGEST_EXPONENT))


def _log_variance(noise: float, distance: float) -> float:
    """Return the logarithm of the variance of the likelihood ratio of one round, over the squared rate."""
    square = min(distance / noise, LARGEST_RATIO) ** 2
    return log_expm1(square) if square > sys.float_info.min else 2.0 * (math.log(distance) - math.log(noise))


def _likely_mu(target: Target) -> float:
    """The μ whose ε(δ) is about the target."""
    spread = math.sqrt(-2.0 * target.log_delta)
    return max(math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - spread, 1e-12)
