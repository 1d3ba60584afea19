"""Initial estimates of noise, rates and rounds for a search. They decide only where the search starts.

By the central limit theorem, R rounds at rate q and noise multiplier z are about μ-Gaussian differentially private with

    μ = q √(R (e^{(d/z)²} − 1)).

Here d is the sensitivity in clipping norms. A target is met by the noise with a μ that has the target's δ at the
target's ε.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING

from scipy.special import erfcx

from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.numerics.special import log_expm1

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.target import Target

_MU_STEPS, _SMOOTH_STEPS, _LONGEST_STEP, _EXACT = 120, 10, 2.0, 1e-14
"""Limit on the steps, number of steps before bisections alternate with them, longest step, and tolerance."""
TARGETS_KEPT = 64
"""Limit on the targets whose μ is stored. The noise of many runs is estimated for one target."""
SLOPE_STEP, STEEPEST = 1.01, 100.0
"""Factor between the two μ of a difference quotient, and largest absolute slope with which a search starts."""
HALVINGS = 39
"""Number of bisections of the bracket of log μ. The last bracket is narrower than 1e-11."""
MOST_MOVES = 12
"""Limit on the moves of the bracket of log μ. Each moves μ by a factor of 256."""
LARGEST_RATIO = math.sqrt(500.0)
"""Largest ratio of distance and noise that an estimate uses, so that the exponential of its square is a double."""
_LARGEST_ROOT = math.sqrt(sys.float_info.max)
"""Largest double, approximately, whose square is a double."""
_LARGEST_EXPONENT = 709.0
"""Exponent whose exponential is still a double."""


def likely_noise(target: Target, *, rate: float, rounds: int, distance: float) -> float:
    """Estimate the noise multiplier z that meets a target, by the central limit theorem.

    R rounds at rate q are about μ-Gaussian differentially private with μ = q √(R (e^{(d/z)²} − 1)). The equation is
    solved for z. At rate 1, μ = d √R/z is exact and used instead.

    Args:
        target: ε and δ, which give μ.
        rate: inclusion probability q, in (0, 1].
        rounds: number R of rounds, at least 1.
        distance: sensitivity d of the mechanism in clipping norms: 2 if a record is replaced, 1 if it is added or
            removed.

    Returns:
        z, the standard deviation of the noise in clipping norms.
    """
    mu = central_mu(target)
    if rate == 1.0:
        return distance * math.sqrt(rounds) / mu

    # Solve e^{s²} − 1 = (μ/q)²/R for s² = (d/z)².
    mu_per_rate = mu / rate
    if mu_per_rate > _LARGEST_ROOT:  # its square is not a double, and the 1 does not count
        ratio_square = 2.0 * math.log(mu_per_rate) - math.log(rounds)
    else:
        ratio_square = max(math.log1p(mu_per_rate**2 / rounds), sys.float_info.min)
    return distance / math.sqrt(ratio_square)


@functools.lru_cache(maxsize=TARGETS_KEPT)
def central_mu(target: Target) -> float:
    """Estimate the μ of Gaussian differential privacy that has the target's δ at the target's ε.

    μ-Gaussian differential privacy means that no test distinguishes neighbours better than N(μ, 1) from N(0, 1). The
    result has no error bound. It is used only to start searches.

    Source: Balle and Wang 2018, Theorem 8.

    Args:
        target: ε and δ, or a risk, which has a μ of its own.

    Returns:
        μ, in standard deviations of the noise.
    """
    if target.risk is not None:
        return target.risk.gaussian_mu
    below = functools.partial(_is_below_delta, epsilon=target.epsilon, log_delta=target.log_delta)
    # The root is searched within a factor of 16 of an estimate by tail bounds.
    estimate = _likely_mu(target)
    low, high = _move_to_root(below, math.log(1 / 16 * estimate), math.log(16.0 * estimate))
    low, high = bisect_reals(below, low, high, steps=HALVINGS)
    return math.exp(0.5 * (low + high))


def _move_to_root(below: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Move a bracket by its own width until it contains the point at which a condition ceases to hold.

    The first bracket does not contain the point if ε is far below δ, or if δ is close to 1.

    Args:
        below: condition that holds at every number below the point, and at none above it.
        low: lower bound of the bracket.
        high: upper bound of the bracket, above `low`.

    Returns:
        The bounds of the bracket. After `MOST_MOVES` moves it need not contain the point.
    """
    width = high - low
    for _ in range(MOST_MOVES):
        # Move up while the condition holds at the upper bound, and down while it fails at the lower one.
        if below(high):
            low, high = high, high + width
        elif not below(low):
            low, high = low - width, low
        else:
            break
    return low, high


def central_log_mu(epsilon: float, log_delta: float, start: float) -> float:
    """Estimate the log μ at which μ-Gaussian differential privacy has a given log δ at ε.

    The search takes secant steps on log |log δ|, which decreases in log μ. A step that leaves the bracket is replaced
    by bisection: for huge ε, log δ nearly jumps at the mean loss ε.

    Args:
        epsilon: ε, in nats.
        log_delta: natural logarithm of δ, below 0.
        start: initial estimate of log μ.

    Returns:
        The natural logarithm of μ: the last point of the search, which has at most `_MU_STEPS` steps.
    """
    target = math.log(-log_delta)

    def excess(log_mu: float) -> float:
        """Return log |log δ| at a log μ minus its target. It decreases in log μ and is 0 at the result."""
        return math.log(-central_log_delta(epsilon, math.exp(log_mu))) - target

    low, high = -math.inf, math.inf
    previous, previous_value, current = math.nan, math.nan, start
    for attempt in range(_MU_STEPS):
        value = excess(current)
        has_converged = abs(value) <= _EXACT * (1.0 + abs(target)) or current in (low, high)
        if has_converged:
            break

        # Shrink the bracket by the sign of the value, and take a secant step of limited length.
        if value > 0.0:
            low = current
        else:
            high = current
        step = _secant_step(value, current - previous, value - previous_value)
        previous, previous_value = current, value
        current += min(max(step, -_LONGEST_STEP), _LONGEST_STEP)

        # Bisect instead where the step leaves a finite bracket, and in every second step of a long search.
        is_turn_to_bisect = attempt >= _SMOOTH_STEPS and attempt % 2 == 0
        leaves_bracket = not low < current < high
        if (is_turn_to_bisect or leaves_bracket) and math.isfinite(high - low):
            current = 0.5 * (low + high)
    return current


def _secant_step(value: float, distance: float, change: float) -> float:
    """Return the step from the current point to the root of the secant through the previous one.

    The step is half the value if there is no secant: at the first point, or if the function is flat. It is that of a
    function with slope −2, the slope of log |log δ| in log μ for ε far above μ².

    Args:
        value: value of the function at the current point.
        distance: current point minus the previous one; NaN at the first point.
        change: value minus that at the previous point; NaN at the first point.

    Returns:
        The step to add to the current point.
    """
    step = -value * distance / change if change else math.nan
    if math.isnan(step):
        return 0.5 * value
    return step


def likely_slope(target: Target, *, rate: float, noise: float, distance: float) -> float:
    """Estimate how fast δ falls with the noise: −d log |log δ|/d log noise at the target's ε.

    A search for the noise uses the slope for its first step. Let μ be that of the Gaussian
    differential privacy that approximates the run. The slope is the product of two slopes:

    - `rise` estimates the decrease of log |log δ| for each unit of log μ.
    - By the central limit theorem, log μ decreases by s²e^{s²}/(e^{s²} − 1) for each unit of log noise. Here s is the
      distance divided by the noise. Without subsampling, log μ decreases by 1.

    Args:
        target: the ε and δ at which the slope is estimated.
        rate: inclusion probability q, in (0, 1].
        noise: estimate of the noise multiplier that meets the target, in clipping norms.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        The slope, between −`STEEPEST` and −0.1.
    """
    ratio_square = min(distance / noise, LARGEST_RATIO) ** 2  # s²
    fall_of_log_mu = 1.0 if rate == 1.0 else ratio_square / -math.expm1(-ratio_square)
    # The limits keep the first step of the search finite and not too short.
    least_slope = 0.1
    return -min(max(rise(target) * fall_of_log_mu, least_slope), STEEPEST)


def rise(target: Target) -> float:
    """Estimate the slope of log |log δ| in log μ at the target's ε, with the opposite sign.

    δ is that of μ-Gaussian differential privacy. The slope is a difference quotient between μ and `SLOPE_STEP` · μ.

    Args:
        target: ε and δ, which give μ.

    Returns:
        The decrease of log |log δ| for each unit of log μ, at least 1e-3.
    """
    mu = central_mu(target)
    log_delta = central_log_delta(target.epsilon, mu)
    log_delta_of_larger_mu = central_log_delta(target.epsilon, mu * SLOPE_STEP)
    quotient = math.log(log_delta / log_delta_of_larger_mu) / math.log(SLOPE_STEP)
    return max(quotient, 1e-3)


def likely_rate(target: Target, *, noise: float, rounds: int, distance: float) -> float:
    """Estimate the sampling rate that meets a target by the central limit theorem, above 0 and at most 1.

    R rounds at rate q are about μ-Gaussian differentially private with μ = q √(R (e^{(d/z)²} − 1)). The equation is
    solved for q.

    Args:
        target: ε and δ, which give μ.
        noise: noise multiplier z, the standard deviation of the noise in clipping norms.
        rounds: number R of rounds, at least 1.
        distance: sensitivity d of the mechanism in clipping norms.

    Returns:
        The inclusion probability q of a record. It is 1 if the noise is so large that μ is 0 at every rate.
    """
    ratio_square = min(distance / noise, LARGEST_RATIO) ** 2
    mu_at_rate_one = math.sqrt(rounds * math.expm1(ratio_square))
    if mu_at_rate_one <= 0.0:
        return 1.0
    return min(central_mu(target) / mu_at_rate_one, 1.0)


def likely_rounds(target: Target, *, noise: float, rate: float, distance: float) -> float:
    """Estimate the number of rounds that meets a target by the central limit theorem.

    R rounds at rate q are about μ-Gaussian differentially private with μ = q √(R (e^{(d/z)²} − 1)). The equation is
    solved for R in logarithms.

    Args:
        target: ε and δ, which give μ.
        noise: noise multiplier z, the standard deviation of the noise in clipping norms.
        rate: inclusion probability q in (0, 1].
        distance: sensitivity d of the mechanism in clipping norms.

    Returns:
        R, not rounded, from 1 to about 8e307.
    """
    log_mu_per_rate = math.log(central_mu(target)) - math.log(rate)
    log_rounds = 2.0 * log_mu_per_rate - _log_variance(noise, distance)
    return math.exp(min(max(log_rounds, 0.0), _LARGEST_EXPONENT))


def _log_variance(noise: float, distance: float) -> float:
    """Return the log variance of the likelihood ratio of one subsampled Gaussian round, divided by the squared rate.

    It is log(e^{s²} − 1), where s is the distance over the noise.

    Args:
        noise: noise multiplier, in clipping norms.
        distance: sensitivity of the mechanism in clipping norms.

    Returns:
        Natural logarithm of the variance over the squared rate.
    """
    ratio_square = min(distance / noise, LARGEST_RATIO) ** 2
    if ratio_square <= sys.float_info.min:  # the square may have underflowed, and e^{s²} − 1 is s²
        return 2.0 * (math.log(distance) - math.log(noise))
    return log_expm1(ratio_square)


def _likely_mu(target: Target) -> float:
    """Estimate the μ of Gaussian differential privacy that has the target's ε at its δ, by Gaussian tail bounds.

    The upper tail of N(0, 1) beyond x is about e^{−x²/2}. With x = √(−2 log δ) this gives μ = √(x² + 2ε) − x.

    Args:
        target: ε and δ.

    Returns:
        μ, at least 1e-12.
    """
    quantile = math.sqrt(-2.0 * target.log_delta)
    mu = math.sqrt(-2.0 * target.log_delta + 2.0 * target.epsilon) - quantile
    return max(mu, 1e-12)  # for ε = 0, mu is 0


def central_log_delta(epsilon: float, mu: float) -> float:
    """Estimate log δ at ε of μ-Gaussian differential privacy, a number below 0 (Balle and Wang 2018, Theorem 8).

    With Q the normal upper tail, δ(ε) = Q(a) − e^ε Q(b), where a = ε/μ − μ/2 and b = a + μ. Scaled tails e^{x²/2} Q(x)
    are used, because e^ε e^{−b²/2} = e^{−a²/2}.

    Args:
        epsilon: ε, in nats.
        mu: μ > 0, in standard deviations of the noise.

    Returns:
        The natural logarithm of δ.
    """
    tail_start = epsilon / mu - 0.5 * mu  # a
    scaled_tail_at_b = 0.5 * float(erfcx((tail_start + mu) * math.sqrt(0.5)))
    if tail_start < 0.0:  # δ may be close to 1, and 1 − δ = Q(−a) + e^ε Q(b) keeps its digits
        lower_tail = 0.5 * math.erfc(-tail_start * math.sqrt(0.5))
        complement = lower_tail + scaled_tail_at_b * math.exp(-0.5 * tail_start * tail_start)
        # The limits keep the logarithm finite, and below 0.
        return min(math.log1p(-min(complement, 1.0 - 1e-16)), -1e-300)
    # For a ≥ 0, δ = e^{−a²/2} times the difference of the scaled tails at a and at b.
    difference = 0.5 * float(erfcx(tail_start * math.sqrt(0.5))) - scaled_tail_at_b
    # 1e-300 keeps the argument positive where the difference vanishes.
    return math.log(max(difference, 1e-300)) - 0.5 * tail_start * tail_start


def _is_below_delta(log_mu: float, *, epsilon: float, log_delta: float) -> bool:
    """Return whether an estimate of log δ(ε) of μ-Gaussian differential privacy is below a given log δ.

    A bisection for log μ uses this comparison. The estimate increases in μ.

    Args:
        log_mu: natural logarithm of μ.
        epsilon: ε, in nats.
        log_delta: natural logarithm of the given δ.

    Returns:
        True if the estimate is below the given log δ, so that μ is too small.
    """
    return central_log_delta(epsilon, math.exp(log_mu)) < log_delta
