"""Distributions of sums of independent trials with success probability 1/2 + θ or 1/2 − θ.

A binomial distribution is computed from its mode by the ratios of consecutive probabilities. Values farther than
√(120 n) + 1 from the mode have a probability of at most 2e^{−240} (Hoeffding). Values of a probability below e^{−240}
of the mode's are left out as well. With at most 2^17 trials both together have a probability below e^{−230.7}.

Sums of two binomial variables are convolutions of positive terms, which keep the relative error up to one rounding for
each term. The values outside of the two windows have a probability below e^{−230}. It is at most e^{−30} of every
probability above e^{−200}, and only such values are listed. At most 2^14 values of the convolution are not.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

    LongArray = np.ndarray[tuple[int, ...], np.dtype[np.longdouble]]
LOG_UNLISTED = -190.0
"""Upper bound on the log probability of the values of a sum that are not listed: 2^14 e^{−200} and e^{−230}."""
_SQUARE_REACH = 120.0
"""Square of the largest listed distance from the mode, divided by the number of trials (Hoeffding's inequality)."""
_LEAST_LOG = -240.0
"""Least listed log probability of a number of successes, relative to the mode."""
_LEAST_SUM = -200.0
"""Least listed log probability of a sum of two numbers of successes."""
_LOG_CUT = -30.0
"""Log of the relative error of a sum's probability due to successes that are not listed."""
_KEPT = 256
"""Number of stored distributions, of at most 130 kB each."""


class ListedMasses(NamedTuple):
    """A distribution on consecutive integers, as log probabilities; improbable values may be left out.

    Attributes:
        first: smallest listed integer.
        log_masses: natural logarithms of the probabilities of `first`, `first` + 1, ….
        error: bound on the absolute error of each log probability.
    """

    first: int
    log_masses: FloatArray
    error: float


def log_odds(theta: float) -> float:
    """Return log((1/2 + θ)/(1/2 − θ)), with a relative error of at most 4 units of roundoff.

    Args:
        theta: θ, 0 < θ < 1/2.

    Returns:
        The log odds, positive.
    """
    return math.log1p(2.0 * theta) - math.log1p(-2.0 * theta)


def binomial(trials: int, theta: float, *, complete: bool = False) -> ListedMasses:
    """Return the binomial distribution of n trials with success probability 1/2 + θ.

    Log probabilities are sums of log P(k + 1)/P(k) from the mode outward, minus the log of their total. Values far from
    the mode or of a negligible probability are left out.

    Args:
        trials: number n ≥ 0 of trials.
        theta: θ, 0 < θ < 1/2.
        complete: whether every value is listed, however small its probability is.

    Returns:
        The first listed value, the log probabilities from there on, and a bound on their errors.
    """
    mode = min(math.floor((trials + 1) * (0.5 + theta)), trials)
    reach = trials if complete else math.ceil(math.sqrt(_SQUARE_REACH * trials)) + 1
    low, high = max(mode - reach, 0), min(mode + reach, trials)

    # log P(k + 1)/P(k), and from it log P(k)/P(mode).
    odds = log_odds(theta)
    k = np.arange(low, high, dtype=np.float64)
    log_ratios = np.log((trials - k) / (k + 1.0)) + odds
    logs = _logs_relative_to_mode(log_ratios, mode - low)
    is_listed = np.ones(logs.size, dtype=bool) if complete else logs >= _LEAST_LOG
    low += int(np.argmax(is_listed))
    logs = logs[is_listed]

    # The error of a sum of log ratios, by their own errors and by the roundings of the sum.
    steps = max(high - mode, mode - low, 1)
    largest_log = float(np.max(np.abs(logs), initial=0.0))
    largest_ratio = float(np.max(np.abs(log_ratios), initial=0.0))
    error_of_ratio = UNIT_ROUNDOFF * (4.0 + largest_ratio + 5.0 * odds)
    error = steps * (error_of_ratio + float(np.finfo(np.longdouble).eps) * largest_log)

    # Normalise. The total has at most the relative error of its terms.
    log_total = np.log(np.sum(np.exp(logs)))
    rounding = UNIT_ROUNDOFF * (8.0 + largest_log + abs(float(log_total)))
    # The errors of a term and of the total, and one rounding for each term of the sum.
    total_error = 2.0 * error + rounding + logs.size * UNIT_ROUNDOFF
    return ListedMasses(low, (logs - log_total).astype(np.float64), total_error)


def _logs_relative_to_mode(log_ratios: FloatArray, mode: int) -> LongArray:
    """Return log P(k)/P(mode) for all k of a distribution on consecutive integers, by sums in extended precision.

    Args:
        log_ratios: log P(k + 1)/P(k) at all k but the last.
        mode: index of the mode, the most probable k.

    Returns:
        One natural logarithm for each k, at most 0, in extended precision.
    """
    above = np.cumsum(log_ratios[mode:].astype(np.longdouble))
    below = np.cumsum(-log_ratios[:mode][::-1].astype(np.longdouble))[::-1]
    return np.concatenate([below, np.zeros(1, dtype=np.longdouble), above])


@lru_cache(maxsize=_KEPT)
def two_binomials(high_trials: int, low_trials: int, theta: float) -> ListedMasses:
    """Return the distribution of the number of successes in two kinds of trials.

    Trials of the first kind succeed with probability 1/2 + θ, and those of the second kind with 1/2 − θ. The failures
    of the second kind are binomial with probability 1/2 + θ, so that `binomial` computes both distributions.

    Args:
        high_trials: number of trials with the larger probability 1/2 + θ.
        low_trials: number of trials with the smaller probability 1/2 − θ.
        theta: θ, 0 < θ < 1/2.

    Returns:
        The first listed value, the log probabilities from there on, and a bound on their errors.
    """
    high = binomial(high_trials, theta)
    failures = binomial(low_trials, theta)
    low_first = low_trials - failures.first - (failures.log_masses.size - 1)

    # The sum of both is a convolution of positive terms.
    masses = np.convolve(np.exp(high.log_masses), np.exp(failures.log_masses[::-1]))
    is_listed = np.log(masses) >= _LEAST_SUM
    terms = min(high.log_masses.size, failures.log_masses.size)
    rounding = UNIT_ROUNDOFF * (terms + 8.0 + 2.0 * abs(_LEAST_LOG))
    # The errors of both factors, of the sum, and of values that are not listed.
    error = high.error + failures.error + rounding + math.exp(_LOG_CUT)

    # A sum of independent trials is unimodal, so the listed values are consecutive.
    first = high.first + low_first + int(np.argmax(is_listed))
    # The factor 1.01 covers errors of second order.
    return ListedMasses(first, np.log(masses[is_listed]), 1.01 * error)
