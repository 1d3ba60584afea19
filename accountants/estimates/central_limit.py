"""The central limit of composition: formulas of estimates. Nothing here is certified, and it decides no answer.

R rounds at rate q and noise multiplier z are about μ-Gaussian differentially private with
μ = q√(R(e^{(sensitivity/z)²} − 1)). The μ of a target is the one whose δ(ε) is that of the target.
"""

from __future__ import annotations

import math

from scipy.special import erfcx

_STEPS, _SMOOTH, _LONGEST, _EXACT = 120, 10, 2.0, 1e-14
"""Steps in all, those before every other one halves the bracket, and the longest."""
_SMALL_MU = 1e-3
"""μ of one batch below which the variance of its likelihood ratio is taken from the first two terms."""


def central_log_delta(epsilon: float, mu: float) -> float:
    """About log δ at ε of μ-Gaussian differential privacy (Balle and Wang 2018, Theorem 8), below 0."""
    far = epsilon / mu - 0.5 * mu
    near = 0.5 * float(erfcx((far + mu) * math.sqrt(0.5)))
    if far < 0.0:  # then 1 − δ keeps its digits
        rest = 0.5 * math.erfc(-far * math.sqrt(0.5)) + near * math.exp(-0.5 * far * far)
        return min(math.log1p(-min(rest, 1.0 - 1e-16)), -1e-300)
    tails = 0.5 * float(erfcx(far * math.sqrt(0.5))) - near
    return math.log(max(tails, 1e-300)) - 0.5 * far * far


def is_below_delta(log_mu: float, *, epsilon: float, log_delta: float) -> bool:
    """Return whether log δ(ε) of μ-Gaussian differential privacy is about below a given log δ."""
    return central_log_delta(epsilon, math.exp(log_mu)) < log_delta


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


def batch_variance(mu: float, rate: float) -> float:
    """Return about the variance of the likelihood ratio of one round with a batch of fixed size, over q².

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
    """
    whole = math.expm1(mu * mu)
    if mu < _SMALL_MU:
        upper = mu * mu * (1.0 + math.sqrt(2.0 / math.pi) * mu)
    else:
        upper = 2.0 * (math.exp(mu * mu) * _below(1.5 * mu) - 2.0 * _below(0.5 * mu) + _below(-0.5 * mu))
    return whole + (1.0 - rate) * (upper - whole)


def exceeds_variance(log_noise: float, *, rate: float, distance: float, variance: float) -> bool:
    """Return whether `batch_variance` at a noise is above a given variance.

    Args:
        log_noise: logarithm of the noise multiplier.
        rate: probability q that a contribution is drawn.
        distance: sensitivity factor of the relation.
        variance: the given variance, over q².
    """
    return batch_variance(distance / math.exp(log_noise), rate) > variance


def _below(place: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-place / math.sqrt(2.0))


def is_below_square(square: float, *, fall: float) -> bool:
    """Return whether s² is below the root of s² = (1 − e^{−s²}) · fall, at which log μ falls so much per log noise."""
    return square < -math.expm1(-square) * fall
