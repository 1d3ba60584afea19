"""Log-space primitives of Gaussian privacy, with stated and tested accuracy.

θ_ε(r) = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r) is the hockey-stick divergence between N(0, 1) and N(r, 1) at e^ε (Balle and
Wang 2018, Theorem 8; the contraction coefficient of Asoodeh et al. 2021, Lemma 2). The textbook difference loses all
digits for small r and overflows for ε > 709. Here both log θ and log(1 − θ) are sums of positive terms.

With φ the standard normal density and R(x) = (1 − Φ(x))/φ(x) the Mills ratio, a = ε/r − r/2 and b = a + r:

    θ = φ(a) (R(a) − R(b)) = 2 φ(a) ∫₀^∞ e^{−ct − t²/2} sinh(rt/2) dt,   c = ε/r,
    1 − θ = φ(a) (R(−a) + R(b)),

since φ(a) = e^ε φ(b). All functions are elementwise on float64 arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import erfcx, log_ndtr

from epsilond.accountants.numerics.odd_moments import odd_moment_series, odd_moment_sum
from epsilond.accountants.numerics.thetas.precise_threshold import log_normal_density, precise_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
UNIT_ROUNDOFF = 2.0**-53
LOG_ACCURACY = 16 * UNIT_ROUNDOFF
"""|log θ̂ − log θ| ≤ LOG_ACCURACY · (1 + |log θ|) (for 1 − θ too); measured 9.2 units, tested."""

FARTHEST = 1e145
"""Largest |ε/r − r/2| at which θ is evaluated; its square is far within the range of doubles."""
LEAST_LOG = -0.5 * FARTHEST**2
"""Upper bound that replaces the smaller logarithms beyond `FARTHEST`; multiples of it are still finite doubles."""

_SQRT_HALF = math.sqrt(0.5)
_SQRT_HALF_PI = math.sqrt(math.pi / 2)
_FEW = 16  # number of values up to which Python's numbers are quicker than arrays
_FAR_RATIO = 1e7  # ratio of ε to the shift above which the series equals its first term


def mills(x: FloatArray) -> FloatArray:
    """Return the Mills ratio R(x) = (1 − Φ(x))/φ(x) of the standard normal distribution, elementwise.

    Args:
        x: numbers; below about −37 the result overflows.

    Returns:
        R(x), accurate to a few units in the last place for x ≥ −37.
    """
    return _SQRT_HALF_PI * np.asarray(erfcx(x * _SQRT_HALF))


def log_normal_tail(x: ArrayLike) -> FloatArray:
    """Return log(1 − Φ(x)), the log upper tail of the standard normal distribution, elementwise; −inf at +inf."""
    return np.asarray(log_ndtr(-np.asarray(x, dtype=np.float64)))


def log_difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return log(e^a − e^b) for a ≥ b, accurately both for nearly equal and for very different numbers.

    The logarithm is a + log(1 − e^{b−a}). The second term is computed with `log1p` if a − b > log 2, and with `expm1`
    otherwise, so that no digits cancel.

    Args:
        larger: logarithms a of the minuends.
        smaller: logarithms b of the subtrahends, at most `larger`.

    Returns:
        The logarithms of the differences; −inf where both are equal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isneginf(smaller), -np.inf, smaller - larger)  # not NaN if both are −inf
        for_wide_gap = np.log1p(-np.exp(np.minimum(gap, 0.0)))
        for_narrow_gap = np.log(-np.expm1(np.minimum(gap, 0.0)))
    is_wide = gap < -math.log(2.0)
    difference = larger + np.where(is_wide, for_wide_gap, for_narrow_gap)
    return np.asarray(np.where(np.isneginf(larger), -np.inf, difference))


def log1m_exp(x: ArrayLike) -> FloatArray:
    """Return log(1 − e^x) for x ≤ 0 without cancellation; −inf at 0.

    Args:
        x: numbers at most 0, or one such number.
    """
    values = np.asarray(x, dtype=np.float64)
    return log_difference(np.zeros_like(values), values)


def log_one_minus_exp(x: FloatArray) -> FloatArray:
    """Return log(1 − e^x), elementwise, where rounding may have raised an x above 0; −inf for x ≥ 0.

    For −0.7 ≤ x < −log 2 the result may differ from that of `log1m_exp` in the last place.

    Args:
        x: numbers, at most 0 except for rounding errors.

    Returns:
        One logarithm, at most 0, for each number.
    """
    if np.size(x) == 1:  # many times quicker for one number
        return np.full(np.shape(x), _log_one_minus_exp_at(float(np.reshape(x, ()))))
    arguments = np.minimum(x, 0.0)
    with np.errstate(divide="ignore"):
        near_zero = np.log(-np.expm1(arguments))
        far_from_zero = np.log1p(-np.exp(np.minimum(arguments, -0.5)))  # not used above −0.7
        return np.asarray(np.where(arguments > -0.7, near_zero, far_from_zero))


def _log_one_minus_exp_at(x: float) -> float:
    """Return log(1 − e^x) for one number x, by the formulas of `log_one_minus_exp`; −inf for x ≥ 0, NaN for NaN."""
    if math.isnan(x):
        return x
    if x >= 0.0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > -0.7 else math.log1p(-math.exp(x))


def log_sum(first: float, second: float) -> float:
    """Return log(e^a + e^b) for two numbers a and b, without overflow.

    Args:
        first: a, which may be −inf.
        second: b, which may be −inf.
    """
    larger, smaller = max(first, second), min(first, second)
    if smaller == -math.inf:
        return larger
    return larger + math.log1p(math.exp(smaller - larger))


def log_expm1(x: float) -> float:
    """Return log(e^x − 1) for one number x ≥ 0 without overflow; −inf at 0."""
    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf


def log_theta(epsilon: ArrayLike, shift: ArrayLike) -> FloatArray:
    """Return log θ_ε(r), the log hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε, elementwise.

    Args:
        epsilon: values of ε ≥ 0, in nats, which are broadcast with the shifts.
        shift: shifts r ≥ 0, in standard deviations.

    Returns:
        One logarithm for each pair, at most 0. It is −inf (θ = 0) only at r = 0 or ε = inf, and 0 at r = inf.

    Guarantees:
        The error is at most `LOG_ACCURACY · (1 + |value|)` for ε ≤ 1e15 and r in [1e-300, 1e7]. Values below
        `LEAST_LOG` are replaced by `LEAST_LOG`, which is an upper bound.
    """
    return _theta(epsilon, shift)[0]


def log_theta_complement(epsilon: ArrayLike, shift: ArrayLike) -> FloatArray:
    """Return log(1 − θ_ε(r)) for the hockey-stick divergence θ of N(r, 1) and N(0, 1) at e^ε, elementwise.

    Args:
        epsilon: values of ε ≥ 0, in nats, which are broadcast with the shifts.
        shift: shifts r ≥ 0, in standard deviations.

    Returns:
        One logarithm for each pair, as accurate as `log_theta`. It is 0 at r = 0, and −inf at r = inf.
    """
    return _theta(epsilon, shift)[1]


def log_theta_and_complement(epsilon: ArrayLike, shift: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and log(1 − θ_ε(r)) of the hockey-stick divergence θ of N(r, 1) and N(0, 1) at e^ε.

    Args:
        epsilon: values of ε ≥ 0, in nats, which are broadcast with the shifts.
        shift: shifts r ≥ 0, in standard deviations.

    Returns:
        The results of `log_theta` and `log_theta_complement`, in the time of one evaluation.
    """
    return _theta(epsilon, shift)


def _theta(epsilon: ArrayLike, shift: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return log θ and log(1 − θ) for θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε.

    At r = ∞, θ is 1. Otherwise it is 0 at r = 0 and at ε = ∞. If |ε/r − r/2| exceeds `FARTHEST`, the smaller logarithm
    is `LEAST_LOG`.

    Args:
        epsilon: values of ε ≥ 0, in nats, which are broadcast with the shifts.
        shift: shifts r ≥ 0, in standard deviations.

    Returns:
        log θ and log(1 − θ), in arrays of the broadcast shape.
    """
    eps, r = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(shift, dtype=np.float64))
    if eps.size <= _FEW:
        return _theta_of_few(eps, r)

    # The arrays start with θ = 0, the value at r = 0 and at an infinite ε.
    log_value, log_complement = np.full(eps.shape, -np.inf), np.zeros(eps.shape)
    is_infinite = np.isposinf(r)
    log_value[is_infinite], log_complement[is_infinite] = 0.0, -np.inf

    # The square of a threshold beyond `FARTHEST` may overflow. There one logarithm is 0 within rounding.
    is_regular = (r > 0) & ~is_infinite & np.isfinite(eps)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        threshold = np.where(is_regular, eps / r - 0.5 * r, 0.0)
    is_far_above, is_far_below = is_regular & (threshold > FARTHEST), is_regular & (threshold < -FARTHEST)
    log_value[is_far_above] = LEAST_LOG
    log_value[is_far_below], log_complement[is_far_below] = 0.0, LEAST_LOG

    is_computed = is_regular & ~is_far_above & ~is_far_below
    if is_computed.any():
        log_value[is_computed], log_complement[is_computed] = _theta_inside(eps[is_computed], r[is_computed])
    return log_value, log_complement


def _theta_of_few(eps: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ and log(1 − θ) as `_theta` does, by a loop, which is quicker than arrays for few numbers.

    Args:
        eps: values of ε ≥ 0, in nats.
        r: shifts r ≥ 0, in standard deviations; an array of the same shape.

    Returns:
        log θ and log(1 − θ), in arrays of the given shape.
    """
    pairs = zip(eps.ravel().tolist(), r.ravel().tolist(), strict=True)
    logs = [theta_logs(epsilon, shift) for epsilon, shift in pairs]
    values, complements = np.asarray(logs, dtype=np.float64).reshape(-1, 2).T
    return values.reshape(eps.shape), complements.reshape(eps.shape)


def theta_logs(epsilon: float, shift: float) -> tuple[float, float]:
    """Return log θ and log(1 − θ) for θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε.

    For one ε and one shift this is quicker than arrays. The accuracy is that of `log_theta`. With the normal density φ,
    the Mills ratio R and the threshold a = ε/r − r/2:

        θ = φ(a) (R(a) − R(a + r)),    1 − θ = φ(a) (R(−a) + R(a + r)).

    The function evaluates 1 − θ if a < −1, and θ otherwise; the second logarithm follows from the first.

    Args:
        epsilon: ε ≥ 0, in nats.
        shift: shift r ≥ 0, in standard deviations.

    Returns:
        log θ and log(1 − θ), both at most 0.
    """
    if shift == math.inf:
        return 0.0, -math.inf
    if not shift > 0.0 or not math.isfinite(epsilon):
        return -math.inf, 0.0
    # N(r, 1) has more than e^ε times the density of N(0, 1) beyond a + r.
    approximate_threshold = epsilon / shift - 0.5 * shift
    if abs(approximate_threshold) > FARTHEST:
        return (LEAST_LOG, 0.0) if approximate_threshold > 0.0 else (0.0, LEAST_LOG)

    a, a_low = precise_threshold(epsilon, shift)
    log_density = log_normal_density(a, a_low)
    if a < -1.0:
        mills_sum = _mills_at(-a) + _mills_at(max(a + shift, 0.0))
        log_complement = min(log_density + math.log(mills_sum), 0.0)
        return log1m_exp_at(log_complement), log_complement
    log_value = min(log_density + _log_mills_difference_at(a, epsilon, shift), 0.0)
    return log_value, log1m_exp_at(log_value)


def _log_mills_difference_at(a: float, epsilon: float, shift: float) -> float:
    """Return log(R(a) − R(a + r)) for one a = ε/r − r/2 ≥ −1, with the Mills ratio R(x) = (1 − Φ(x))/φ(x).

    If the shift r is large, no digits cancel in the difference. Otherwise the difference is computed by the power
    series of `_log_mills_difference`.

    Args:
        a: ε/r − r/2, at least −1.
        epsilon: ε ≥ 0, in nats.
        shift: r > 0, in standard deviations.

    Returns:
        The logarithm of the difference, which is above 0.
    """
    is_small_shift = shift < 0.5 * max(1.0, a)
    if not is_small_shift:
        return math.log(_mills_at(a) - _mills_at(a + shift))
    c = min(epsilon / shift, 1e150)  # its square is a finite double
    if c > _FAR_RATIO:
        # The other terms of the series are below the rounding error. The integral is 1/(c² − r²/4).
        return math.log(shift) + (-math.log(c - 0.5 * shift) - math.log(c + 0.5 * shift))
    return math.log(shift) + math.log(odd_moment_sum(c, _mills_at(c), shift))


def _mills_at(x: float) -> float:
    """Return the Mills ratio R(x) = (1 − Φ(x))/φ(x) for one number x, as `mills` does for arrays."""
    return _SQRT_HALF_PI * float(erfcx(x * _SQRT_HALF))


def log1m_exp_at(x: float) -> float:
    """Return log(1 − e^x) for one number x ≤ 0; −inf at 0."""
    if x == 0.0:
        return -math.inf
    return math.log1p(-math.exp(x)) if x < -math.log(2.0) else math.log(-math.expm1(x))


def _theta_inside(eps: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ and log(1 − θ) for the hockey-stick divergence θ of N(r, 1) and N(0, 1) at e^ε.

    With the normal density φ, the Mills ratio R, a = ε/r − r/2 and b = a + r, the formula is:

        θ = φ(a) (R(a) − R(b))          for a ≥ −1,
        1 − θ = φ(a) (R(−a) + R(b))     for a < −1.

    The second logarithm follows from the first.

    Args:
        eps: values of ε ≥ 0, finite, in nats.
        r: shifts r > 0, in standard deviations, with |ε/r − r/2| ≤ `FARTHEST`.

    Returns:
        log θ and log(1 − θ), one of each for every pair of ε and r.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        a, a_low = precise_threshold(eps, r)
        log_density = log_normal_density(a, a_low)
        is_below = a < -1.0

        # Arguments for a ≥ −1 are replaced by harmless ones here; the results are not used.
        mills_sum = mills(np.where(is_below, -a, 0.0)) + mills(np.maximum(a + r, 0.0))
        complement_below = np.minimum(log_density + np.log(mills_sum), 0.0)
        value_below = log1m_exp(np.where(is_below, complement_below, 0.0))

        value_above = log_density + _log_mills_difference(a, eps, r)
        log_value = np.minimum(np.where(is_below, value_below, value_above), 0.0)
        log_complement = np.where(is_below, complement_below, log1m_exp(log_value))
    return log_value, log_complement


def _log_mills_difference(a: FloatArray, eps: FloatArray, r: FloatArray) -> FloatArray:
    """Return log(R(a) − R(a + r)) for a = ε/r − r/2 ≥ −1, with the Mills ratio R(x) = (1 − Φ(x))/φ(x).

    If the shift r is large, no digits cancel in the difference. Otherwise the difference is:

        ∫₀^∞ 2 e^{−ct − t²/2} sinh(rt/2) dt    with c = ε/r,

    by the power series of `odd_moment_series`. For c above `_FAR_RATIO`, the factor e^{−t²/2} is negligible.

    Args:
        a: ε/r − r/2. Entries below −1 are not set in the result.
        eps: values of ε ≥ 0, in nats.
        r: shifts r > 0, in standard deviations.

    Returns:
        One logarithm for each a ≥ −1.
    """
    log_difference_of_mills = np.empty_like(a)
    is_series = (a >= -1.0) & (r < 0.5 * np.maximum(1.0, a))
    is_direct = (a >= -1.0) & ~is_series
    if is_series.any():
        small_r = r[is_series]
        c = np.minimum(eps[is_series] / small_r, 1e150)  # its square is a finite double
        is_far = c > _FAR_RATIO
        near_c = np.minimum(c, _FAR_RATIO)
        log_near_bracket = np.log(_odd_moments(near_c, small_r))
        log_bracket = np.where(is_far, _log_far_bracket(c, small_r), log_near_bracket)
        log_difference_of_mills[is_series] = np.log(small_r) + log_bracket
    if is_direct.any():
        direct_a, direct_r = a[is_direct], r[is_direct]
        log_difference_of_mills[is_direct] = np.log(mills(direct_a) - mills(direct_a + direct_r))
    return log_difference_of_mills


def _odd_moments(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return ∫ e^{−ct−t²/2} (2/r) sinh(rt/2) dt over t > 0, elementwise.

    For few numbers a loop is quicker than the arrays of `odd_moment_series`.

    Args:
        c: numbers ≥ 0.
        r: shifts > 0; an array of the same shape.

    Returns:
        One integral for each pair of c and r.
    """
    mills_ratios = mills(c)
    if c.size > _FEW:
        return odd_moment_series(c, mills_ratios, r)
    arguments = zip(c.ravel().tolist(), mills_ratios.ravel().tolist(), r.ravel().tolist(), strict=True)
    return np.asarray([odd_moment_sum(*triple) for triple in arguments]).reshape(c.shape)


def _log_far_bracket(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return log ∫₀^∞ e^{−ct} (2/r) sinh(rt/2) dt = −log(c² − r²/4), elementwise, for c > r/2.

    For c > 1e7 this replaces the integral with an additional factor e^{−t²/2}, which is 1 within rounding where the
    integrand is not negligible.
    """
    return -np.log(c - 0.5 * r) - np.log(c + 0.5 * r)
