"""Log-space primitives of Gaussian privacy, with stated and tested accuracy.

θ_ε(r) = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r) is the hockey-stick divergence between N(0, 1) and N(r, 1) at e^ε (Balle and
Wang 2018, Theorem 8; the contraction coefficient of Asoodeh et al. 2021, Lemma 2). The textbook difference loses all
digits for small r and overflows for ε > 709. Here both log θ and log(1 − θ) are sums of positive terms.

With φ the standard normal density and R(x) = (1 − Φ(x))/φ(x) the Mills ratio, a = ε/r − r/2 and b = a + r,

    θ = φ(a) (R(a) − R(b)) = 2 φ(a) ∫₀^∞ e^{−ct − t²/2} sinh(rt/2) dt,   c = ε/r,
    1 − θ = φ(a) (R(−a) + R(b)),

since φ(a) = e^ε φ(b). All functions are elementwise on float64 arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from scipy.special import erfcx, log_ndtr

from epsilond.accountants.numerics.odd_moments import odd_moment_series, odd_moment_sum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FloatArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
Numbers = TypeVar("Numbers", float, "FloatArray")
"""A number or an array of numbers, for arithmetic that supports both."""

UNIT_ROUNDOFF = 2.0**-53
LOG_ACCURACY = 16 * UNIT_ROUNDOFF
"""|log θ̂ − log θ| ≤ LOG_ACCURACY · (1 + |log θ|) (for 1 − θ too); measured 9.2 units, tested."""

FARTHEST = 1e145
LEAST_LOG = -0.5 * FARTHEST**2
"""Logarithm that represents smaller ones, if the argument of φ is beyond `FARTHEST`. Its multiples are doubles.

It is an upper bound on the logarithm, and not a lower bound.
"""

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
_SQRT_HALF_PI = math.sqrt(math.pi / 2)
_SPLITTER = 2.0**27 + 1
_FEW = 16
"""Number of values up to which Python's numbers are quicker than arrays."""
_FAR_RATIO = 1e7
"""Ratio of ε to the shift above which the series equals its first term."""


def mills(x: FloatArray) -> FloatArray:
    """Return the Mills ratio R(x) = (1 − Φ(x))/φ(x), to a few units in the last place for x ≥ −37."""
    return _SQRT_HALF_PI * np.asarray(erfcx(x * _SQRT_HALF))


def log_normal_tail(x: ArrayLike) -> FloatArray:
    """Return log(1 − Φ(x)); −inf at +inf."""
    return np.asarray(log_ndtr(-np.asarray(x, dtype=np.float64)))


def log_difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return log(e^larger − e^smaller), accurately both for nearly equal and for very different numbers.

    Args:
        larger: logarithms of the minuends.
        smaller: logarithms of the subtrahends, at most `larger`.

    Returns:
        The logarithms of the differences; −inf where both are equal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isneginf(smaller), -np.inf, smaller - larger)
        # log1p keeps digits for wide gaps, expm1 for narrow ones.
        for_wide_gap = np.log1p(-np.exp(np.minimum(gap, 0.0)))
        for_narrow_gap = np.log(-np.expm1(np.minimum(gap, 0.0)))
    difference = larger + np.where(gap < -math.log(2.0), for_wide_gap, for_narrow_gap)
    return np.asarray(np.where(np.isneginf(larger), -np.inf, difference))


def log1m_exp(x: ArrayLike) -> FloatArray:
    """Return log(1 − e^x) for x ≤ 0; −inf at 0."""
    values = np.asarray(x, dtype=np.float64)
    return log_difference(np.zeros_like(values), values)


def log_one_minus_exp(x: FloatArray) -> FloatArray:
    """Return log(1 − e^x); −inf at 0 and above, for arguments that rounding may raise above 0.

    It changes formula at −0.7, and `log1m_exp` at −log 2. The two may differ in the last place between these.

    Args:
        x: numbers, normally at most 0.
    """
    if np.size(x) == 1:  # many times quicker for one number
        return np.full(np.shape(x), _log_one_minus_exp_at(float(np.reshape(x, ()))))
    at = np.minimum(x, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(at > -0.7, np.log(-np.expm1(at)), np.log1p(-np.exp(np.minimum(at, -0.5)))))


def _log_one_minus_exp_at(x: float) -> float:
    """Return the result of `log_one_minus_exp` for one number; NaN stays NaN."""
    if x < 0.0:
        return math.log(-math.expm1(x)) if x > -0.7 else math.log1p(-math.exp(x))
    return x if math.isnan(x) else -math.inf


def log_sum(first: float, second: float) -> float:
    """Return log(e^first + e^second) of two numbers."""
    larger, smaller = max(first, second), min(first, second)
    if smaller == -math.inf:
        return larger
    return larger + math.log1p(math.exp(smaller - larger))


def log_expm1(x: float) -> float:
    """Return log(e^x − 1) for x ≥ 0; −inf at 0."""
    return x + math.log(-math.expm1(-x)) if x > 0 else -math.inf


def _two_product(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Return x·y as an unevaluated sum high + low, exactly (Dekker), for |x|, |y| < 2^996."""
    product = x * y
    high_x = _SPLITTER * x - (_SPLITTER * x - x)
    high_y = _SPLITTER * y - (_SPLITTER * y - y)
    low_x, low_y = x - high_x, y - high_y
    return product, ((high_x * high_y - product) + high_x * low_y + low_x * high_y) + low_x * low_y


def _threshold(epsilon: Numbers, shift: Numbers) -> tuple[Numbers, Numbers]:
    """Return a = ε/r − r/2 = (ε − r²/2)/r with twice the precision of a double, as a sum of two doubles, high + low.

    The division has one Newton correction with an exact remainder. For ε = 1e9 and r = 5e4 the plain quotient has an
    error of 1e-11, which a²/2 would amplify to 1e-6.

    Args:
        epsilon: ε.
        shift: r.
    """
    square, square_low = _two_product(shift, shift)
    half_square, half_square_low = 0.5 * square, 0.5 * square_low
    # The numerator ε − r²/2 as the sum numerator + numerator_low (Knuth's two-sum).
    numerator = epsilon - half_square
    subtracted = numerator - epsilon
    numerator_low = (epsilon - (numerator - subtracted)) - (half_square + subtracted) - half_square_low
    quotient = numerator / shift
    product, product_low = _two_product(quotient, shift)
    correction = ((numerator - product) - product_low + numerator_low) / shift
    high = quotient + correction
    return high, (quotient - high) + correction


def _log_density(high: Numbers, low: Numbers) -> Numbers:
    """Return log φ(high + low)."""
    square, square_low = _two_product(high, high)
    return -0.5 * square - (0.5 * square_low + high * low) - _LOG_SQRT_2PI


def log_theta(epsilon: ArrayLike, shift: ArrayLike) -> FloatArray:
    """Return log θ_ε(r) for ε ≥ 0 and shift r ≥ 0 (in standard deviations), broadcast.

    The value is −inf, which means zero, only at r = 0. It is 0 at r = inf.

    Guarantees: the error is at most `LOG_ACCURACY · (1 + |value|)` for ε ≤ 1e15 and r in [1e-300, 1e7]. Values below
    `LEAST_LOG` are replaced by `LEAST_LOG`, which is never below the truth.
    """
    return _theta(epsilon, shift)[0]


def log_theta_complement(epsilon: ArrayLike, shift: ArrayLike) -> FloatArray:
    """Return log(1 − θ_ε(r)), with the same accuracy as `log_theta`: 0 at r = 0, −inf at r = inf."""
    return _theta(epsilon, shift)[1]


def log_theta_and_complement(epsilon: ArrayLike, shift: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return `log_theta` and `log_theta_complement`, in the time of one evaluation."""
    return _theta(epsilon, shift)


def _theta(epsilon: ArrayLike, shift: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return log θ and log(1 − θ) for θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε.

    ε ≥ 0 and the shift r ≥ 0 are broadcast. Beyond `FARTHEST` the smaller logarithm is `LEAST_LOG`. At r = 0 or an
    infinite ε, θ is 0, and at r = ∞ it is 1.

    Args:
        epsilon: values of ε ≥ 0, in nats.
        shift: shifts r ≥ 0, in standard deviations.
    """
    eps, r = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(shift, dtype=np.float64))
    if eps.size <= _FEW:
        return _theta_of_few(eps, r)
    # At first θ = 0 everywhere, which is the value at r = 0 and at an infinite ε.
    log_value, log_complement = np.full(eps.shape, -np.inf), np.zeros(eps.shape)
    is_infinite = np.isposinf(r)
    log_value[is_infinite], log_complement[is_infinite] = 0.0, -np.inf
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
    """Return the result of `_theta` for arrays of equal shape, by one number after the other.

    Args:
        eps: values of ε ≥ 0.
        r: shifts r ≥ 0, in standard deviations.
    """
    pairs = zip(eps.ravel().tolist(), r.ravel().tolist(), strict=True)
    logs = [theta_logs(epsilon, shift) for epsilon, shift in pairs]
    values, complements = np.asarray(logs, dtype=np.float64).reshape(-1, 2).T
    return values.reshape(eps.shape), complements.reshape(eps.shape)


def theta_logs(epsilon: float, shift: float) -> tuple[float, float]:
    """Return log θ and log(1 − θ) for θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε.

    For one ε ≥ 0 and one shift r ≥ 0 this is quicker than arrays. The accuracy is that of `log_theta`.

    Args:
        epsilon: ε ≥ 0, in nats.
        shift: shift r ≥ 0, in standard deviations.
    """
    if shift == math.inf:
        return 0.0, -math.inf
    if not shift > 0.0 or not math.isfinite(epsilon):
        return -math.inf, 0.0
    # Threshold a of the best test: N(r, 1) has a larger density by e^ε beyond a + r.
    approximate = epsilon / shift - 0.5 * shift
    if abs(approximate) > FARTHEST:
        return (LEAST_LOG, 0.0) if approximate > 0.0 else (0.0, LEAST_LOG)
    a, a_low = _threshold(epsilon, shift)
    log_density = _log_density(a, a_low)
    if a < -1.0:
        mills_sum = _mills_at(-a) + _mills_at(max(a + shift, 0.0))
        complement = min(log_density + math.log(mills_sum), 0.0)  # 1 − θ = φ(a)(R(−a) + R(a + r))
        return log1m_exp_at(complement), complement
    value = min(log_density + _log_mills_difference_at(a, epsilon, shift), 0.0)  # θ = φ(a)(R(a) − R(a + r))
    return value, log1m_exp_at(value)


def _log_mills_difference_at(a: float, epsilon: float, shift: float) -> float:
    """Return the result of `_log_mills_difference` for one a = ε/r − r/2 ≥ −1 and r = `shift` > 0."""
    if not shift < 0.5 * max(1.0, a):
        return math.log(_mills_at(a) - _mills_at(a + shift))
    c = min(epsilon / shift, 1e150)
    if c > _FAR_RATIO:  # as `_log_far_bracket`
        return math.log(shift) + (-math.log(c - 0.5 * shift) - math.log(c + 0.5 * shift))
    return math.log(shift) + math.log(odd_moment_sum(c, _mills_at(c), shift))


def _mills_at(x: float) -> float:
    """Return the Mills ratio of `mills` for one number."""
    return _SQRT_HALF_PI * float(erfcx(x * _SQRT_HALF))


def log1m_exp_at(x: float) -> float:
    """Return log(1 − e^x) for x ≤ 0."""
    if x == 0.0:
        return -math.inf
    return math.log1p(-math.exp(x)) if x < -math.log(2.0) else math.log(-math.expm1(x))


def _theta_inside(eps: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ and log(1 − θ), the hockey-stick divergence θ of N(r, 1) and N(0, 1), where neither underflows.

    This is the case for finite ε, and r > 0 with |ε/r − r/2| ≤ `FARTHEST`. With a = ε/r − r/2, b = a + r, the normal
    density φ and Mills' ratio R, θ = φ(a)(R(a) − R(b)) for a ≥ −1, and 1 − θ = φ(a)(R(−a) + R(b)) for a < −1. The other
    one is 1 minus it.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        a, a_low = _threshold(eps, r)
        log_density = _log_density(a, a_low)
        is_below = a < -1.0
        mills_sum = mills(np.where(is_below, -a, 0.0)) + mills(np.maximum(a + r, 0.0))
        complement_below = np.minimum(log_density + np.log(mills_sum), 0.0)
        value_below = log1m_exp(np.where(is_below, complement_below, 0.0))
        value_above = log_density + _log_mills_difference(a, eps, r)
        log_value = np.minimum(np.where(is_below, value_below, value_above), 0.0)
        log_complement = np.where(is_below, complement_below, log1m_exp(log_value))
    return log_value, log_complement


def _log_mills_difference(a: FloatArray, eps: FloatArray, r: FloatArray) -> FloatArray:
    """Return log(R(a) − R(a + r)) for a = ε/r − r/2 ≥ −1, with Mills' ratio R(x) = (1 − Φ(x))/φ(x).

    Entries with other a are not set. For small r it is log ∫ 2 e^{−ct−t²/2} sinh(rt/2) dt with c = ε/r, by the power
    series of `odd_moment_series`.
    """
    log_bracket = np.empty_like(a)
    is_series = (a >= -1.0) & (r < 0.5 * np.maximum(1.0, a))
    is_direct = (a >= -1.0) & ~is_series
    if is_series.any():
        c, small_r = np.minimum(eps[is_series] / r[is_series], 1e150), r[is_series]
        is_far = c > _FAR_RATIO  # the moment M_1 is about 1/c² and the rest of the series is below one unit
        near_c = np.minimum(c, _FAR_RATIO)
        log_moment = np.log(_odd_moments(near_c, small_r))
        log_bracket[is_series] = np.log(small_r) + np.where(is_far, _log_far_bracket(c, small_r), log_moment)
    if is_direct.any():
        log_bracket[is_direct] = np.log(mills(a[is_direct]) - mills(a[is_direct] + r[is_direct]))
    return log_bracket


def _odd_moments(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return `odd_moment_series`, or `odd_moment_sum` of one number after the other if they are few."""
    if c.size > _FEW:
        return odd_moment_series(c, mills(c), r)
    arguments = zip(c.ravel().tolist(), mills(c).ravel().tolist(), r.ravel().tolist(), strict=True)
    return np.asarray([odd_moment_sum(*triple) for triple in arguments]).reshape(c.shape)


def _log_far_bracket(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return the log of ∫ e^{−ct} (2/r) sinh(rt/2) dt = 1/(c² − r²/4). The term t²/2 is negligible for c > 1e7."""
    return -np.log(c - 0.5 * r) - np.log(c + 0.5 * r)
