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
_SERIES_TERMS = 14
_NEGLIGIBLE_TERM = 60.0 * math.log(2.0)
_DAMPED, _LEAST_STEPS = 20.0, 16
_FEW = 16
_FAR_RATIO = 1e7
"""Ratio of ε to the shift above which the series equals its first term."""


def mills(x: FloatArray) -> FloatArray:
    """Return the Mills ratio R(x) = (1 − Φ(x))/φ(x), to a few units in the last place for x ≥ −37."""
    return _SQRT_HALF_PI * np.asarray(erfcx(x * _SQRT_HALF))


def log_normal_tail(x: ArrayLike) -> FloatArray:
    """Return log(1 − Φ(x)); −inf at +inf."""
    return np.asarray(log_ndtr(-np.asarray(x, dtype=np.float64)))


def log_difference(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Return log(e^larger − e^smaller) for larger ≥ smaller; −inf if they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(np.isneginf(smaller), -np.inf, smaller - larger)
        # log1p keeps digits for wide gaps, expm1 for narrow ones.
        wide = np.log1p(-np.exp(np.minimum(gap, 0.0)))
        narrow = np.log(-np.expm1(np.minimum(gap, 0.0)))
    return np.asarray(np.where(np.isneginf(larger), -np.inf, larger + np.where(gap < -math.log(2.0), wide, narrow)))


def log1m_exp(x: ArrayLike) -> FloatArray:
    """Return log(1 − e^x) for x ≤ 0; −inf at 0."""
    values = np.asarray(x, dtype=np.float64)
    return log_difference(np.zeros_like(values), values)


def log_one_minus_exp(x: FloatArray) -> FloatArray:
    """Return log(1 − e^x); −inf at 0 and above, for arguments that rounding may raise above 0.

    It changes formula at −0.7, and `log1m_exp` at −log 2. The two may differ in the last place between these.
    """
    if np.size(x) == 1:  # many times quicker for one number
        number = float(np.reshape(x, ()))
        if not number < 0.0:
            value = number if math.isnan(number) else -math.inf
        else:
            value = math.log(-math.expm1(number)) if number > -0.7 else math.log1p(-math.exp(number))
        return np.full(np.shape(x), value)
    at = np.minimum(x, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(at > -0.7, np.log(-np.expm1(at)), np.log1p(-np.exp(np.minimum(at, -0.5)))))


def log_sum(first: float, second: float) -> float:
    """Return log(e^first + e^second) of two numbers."""
    larger, smaller = max(first, second), min(first, second)
    return larger + math.log1p(math.exp(smaller - larger)) if smaller > -math.inf else larger


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
    """Return a = ε/r − r/2 = (ε − r²/2)/r as an unevaluated sum of two doubles, high + low.

    The division has one Newton correction with an exact remainder. For ε = 1e9 and r = 5e4 the plain quotient has an
    error of 1e-11, which a²/2 would amplify to 1e-6.

    Args:
        epsilon: ε.
        shift: r.
    """
    square, square_low = _two_product(shift, shift)
    half, half_low = 0.5 * square, 0.5 * square_low
    # ε − r²/2 as the sum gap + gap_low (Knuth's two-sum).
    gap = epsilon - half
    removed = gap - epsilon
    gap_low = (epsilon - (gap - removed)) - (half + removed) - half_low
    quotient = gap / shift
    product, product_low = _two_product(quotient, shift)
    correction = ((gap - product) - product_low + gap_low) / shift
    high = quotient + correction
    return high, (quotient - high) + correction


def _log_density(high: Numbers, low: Numbers) -> Numbers:
    """Return log φ(high + low)."""
    square, square_low = _two_product(high, high)
    return -0.5 * square - (0.5 * square_low + high * low) - _LOG_SQRT_2PI


def _odd_moment_series(c: FloatArray, shift: FloatArray) -> FloatArray:
    """Return 2 ∫ e^{−ct−t²/2} sinh(rt/2) dt / r by its power series in r, for r < max(1, c)/2.

    With the moments M_n = ∫ tⁿ e^{−ct−t²/2} dt it is Σ_j (r/2)^{2j} M_{2j+1}/(2j + 1)!.

    Args:
        c: ε/r.
        shift: r.
    """
    if c.size <= _FEW:
        arguments = zip(c.ravel().tolist(), mills(c).ravel().tolist(), shift.ravel().tolist(), strict=True)
        return np.asarray([_odd_moment_sum(*triple) for triple in arguments]).reshape(c.shape)
    moments = np.empty((2 * _SERIES_TERMS, *c.shape))
    is_small = c <= 1.0
    if is_small.any():
        moments[:, is_small] = _moments_forward(c[is_small])
    if not is_small.all():
        moments[:, ~is_small] = _moments_backward(c[~is_small])
    half = 0.5 * shift
    total, factor = np.zeros_like(c), np.ones_like(c)
    for j in range(_SERIES_TERMS):
        total = total + factor * moments[2 * j + 1]
        factor = factor * half * half / ((2 * j + 2) * (2 * j + 3))
    return total


def _moments_forward(c: FloatArray) -> FloatArray:
    """Return M_0, M_1, … (rows) by M_{n+1} = n M_{n−1} − c M_n, which is stable only for c ≤ 1."""
    moments = np.empty((2 * _SERIES_TERMS, c.size))
    moments[0] = mills(c)
    moments[1] = 1.0 - c * moments[0]
    for n in range(1, 2 * _SERIES_TERMS - 1):
        moments[n + 1] = n * moments[n - 1] - c * moments[n]
    return moments


def _moments_backward(c: FloatArray) -> FloatArray:
    """Return the moments M_n = ∫ tⁿ e^{−ct−t²/2} dt, n = 0, 1, … (rows), for c > 1, by ratios h_n = M_n/M_{n−1}.

    They are computed backwards, h_n = n/(c + h_{n+1}), from (√(c² + 4n) − c)/2, which h_n approaches for large n.
    """
    orders = 2 * _SERIES_TERMS
    last = orders + _extra_orders(float(c.min()))
    ratio = 0.5 * (np.sqrt(c * c + 4.0 * last) - c)
    ratios = np.empty((orders, c.size))
    for n in range(last - 1, 0, -1):
        ratio = n / (c + ratio)
        if n < orders:
            ratios[n] = ratio
    moments = np.empty((orders, c.size))
    moments[0] = mills(c)
    for n in range(1, orders):
        moments[n] = moments[n - 1] * ratios[n]
    return moments


def _extra_orders(c: float) -> int:
    """Return the number of further orders from which the backward recurrence has forgotten its start."""
    if c < 3:
        return 220
    return 80 if c < 20 else 24


def _odd_moment_sum(c: float, first: float, shift: float) -> float:
    """Return the result of `_odd_moment_series` for one c; for few numbers this is quicker than arrays.

    The moments M_n have h_n = M_n/M_{n−1} ≤ n/c and h_n ≤ √n. A term of the series is therefore at most
    q = (r/(2 max(1, c)))² times the previous one. J terms with q^J < 2^−60 are enough in double arithmetic.

    Args:
        c: ε/r.
        first: M_0, the Mills ratio at c.
        shift: r.
    """
    step = 0.5 * shift / max(1.0, c)
    terms = 1
    if step > 0.0:
        terms = min(math.ceil(_NEGLIGIBLE_TERM / max(-2.0 * math.log(step), 1e-9)), _SERIES_TERMS)
    odd_moments = _odd_moments_forward(c, first, terms) if c <= 1.0 else _odd_moments_backward(c, first, terms)
    square, total, factor = 0.25 * shift * shift, 0.0, 1.0
    for j, moment in enumerate(odd_moments):
        total += factor * moment
        factor *= square / ((2 * j + 2) * (2 * j + 3))
    return total


def _odd_moments_forward(c: float, first: float, terms: int) -> list[float]:
    """Return M_1, M_3, … by the recurrence of `_moments_forward`, for c ≤ 1 and M_0 = `first`."""
    previous, current = first, 1.0 - c * first
    odd = [current]
    for n in range(1, 2 * terms - 2, 2):
        previous = n * previous - c * current
        current = (n + 1) * current - c * previous
        odd.append(current)
    return odd


def _odd_moments_backward(c: float, first: float, terms: int) -> list[float]:
    """Return M_1, M_3, … by the recurrence of `_moments_backward` for the ratios h_n, from n = N down to 1.

    At each n, an error of h_{n+1} is multiplied by h_n/(c + h_{n+1}), which is less than n/c². If √n is beyond c, the
    product of all such factors is about e^{−2c(√N − √n)}. The start N is chosen so that the error is negligible.

    Args:
        c: ε/r > 1.
        first: M_0.
        terms: number of moments.
    """
    orders = 2 * terms
    most = 2 * _SERIES_TERMS + _extra_orders(c)
    last = min(most, max(math.ceil((math.sqrt(orders) + _DAMPED / c) ** 2), orders + _LEAST_STEPS))
    ratio = 0.5 * (math.sqrt(c * c + 4.0 * last) - c)
    for n in range(last - 1, orders - 1, -1):
        ratio = n / (c + ratio)
    ratios = [0.0] * orders
    for n in range(orders - 1, 0, -1):
        ratios[n] = ratio = n / (c + ratio)
    odd = [first * ratios[1]]
    for n in range(3, orders, 2):
        odd.append(odd[-1] * ratios[n - 1] * ratios[n])
    return odd


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
    """Return log θ_ε(r) (module docstring) and log(1 − θ_ε(r)) for ε ≥ 0 and shift r ≥ 0, broadcast.

    Beyond `FARTHEST` the smaller logarithm is `LEAST_LOG`. At r = 0 or an infinite ε, θ is 0, and at r = ∞ it is 1.
    """
    eps, r = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(shift, dtype=np.float64))
    if eps.size <= _FEW:
        pairs = zip(eps.ravel().tolist(), r.ravel().tolist(), strict=True)
        logs = [theta_logs(*pair) for pair in pairs]
        values, complements = np.asarray(logs, dtype=np.float64).reshape(-1, 2).T
        return values.reshape(eps.shape), complements.reshape(eps.shape)
    log_value, log_complement = np.full(eps.shape, -np.inf), np.zeros(eps.shape)
    is_infinite = np.isposinf(r)
    log_value[is_infinite], log_complement[is_infinite] = 0.0, -np.inf
    is_regular = (r > 0) & ~is_infinite & np.isfinite(eps)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        threshold = np.where(is_regular, eps / r - 0.5 * r, 0.0)
    is_beyond, is_before = is_regular & (threshold > FARTHEST), is_regular & (threshold < -FARTHEST)
    log_value[is_beyond] = LEAST_LOG
    log_value[is_before], log_complement[is_before] = 0.0, LEAST_LOG
    is_inside = is_regular & ~is_beyond & ~is_before
    if is_inside.any():
        log_value[is_inside], log_complement[is_inside] = _theta_inside(eps[is_inside], r[is_inside])
    return log_value, log_complement


def theta_logs(epsilon: float, shift: float) -> tuple[float, float]:
    """Return log θ_ε(r) and log(1 − θ_ε(r)) for one ε ≥ 0 and one shift r ≥ 0, with the accuracy of `log_theta`.

    For few numbers this is quicker than arrays.
    """
    if shift == math.inf:
        return 0.0, -math.inf
    if not shift > 0.0 or not math.isfinite(epsilon):
        return -math.inf, 0.0
    approximate = epsilon / shift - 0.5 * shift
    if abs(approximate) > FARTHEST:
        return (LEAST_LOG, 0.0) if approximate > 0.0 else (0.0, LEAST_LOG)
    a, a_low = _threshold(epsilon, shift)
    log_density = _log_density(a, a_low)
    if a < -1.0:
        complement = min(log_density + math.log(_mills_at(-a) + _mills_at(max(a + shift, 0.0))), 0.0)
        return log1m_exp_at(complement), complement
    if shift < 0.5 * max(1.0, a):
        c = min(epsilon / shift, 1e150)
        if c > _FAR_RATIO:
            log_moment = -math.log(c - 0.5 * shift) - math.log(c + 0.5 * shift)
        else:
            log_moment = math.log(_odd_moment_sum(c, _mills_at(c), shift))
        log_bracket = math.log(shift) + log_moment
    else:
        log_bracket = math.log(_mills_at(a) - _mills_at(a + shift))
    value = min(log_density + log_bracket, 0.0)
    return value, log1m_exp_at(value)


def _mills_at(x: float) -> float:
    return _SQRT_HALF_PI * float(erfcx(x * _SQRT_HALF))


def log1m_exp_at(x: float) -> float:
    """Return log(1 − e^x) for x ≤ 0."""
    if x == 0.0:
        return -math.inf
    return math.log1p(-math.exp(x)) if x < -math.log(2.0) else math.log(-math.expm1(x))


def _theta_inside(eps: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and log(1 − θ_ε(r)) for finite ε, and r > 0 with |ε/r − r/2| ≤ `FARTHEST`.

    With a = ε/r − r/2, b = a + r and Mills' ratio R, θ = φ(a)(R(a) − R(b)) for a ≥ −1, and
    1 − θ = φ(a)(R(−a) + R(b)) for a < −1. The other one is 1 minus it.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        a, a_low = _threshold(eps, r)
        log_density = _log_density(a, a_low)
        is_below = a < -1.0
        mills_sum = mills(np.where(is_below, -a, 0.0)) + mills(np.maximum(a + r, 0.0))
        complement = np.minimum(log_density + np.log(mills_sum), 0.0)
        log_bracket = _log_mills_difference(a, eps, r)
        value_below = log1m_exp(np.where(is_below, complement, 0.0))
        log_value = np.minimum(np.where(is_below, value_below, log_density + log_bracket), 0.0)
        log_complement = np.where(is_below, complement, log1m_exp(log_value))
    return log_value, log_complement


def _log_mills_difference(a: FloatArray, eps: FloatArray, r: FloatArray) -> FloatArray:
    """Return log(R(a) − R(a + r)) with Mills' ratio R, for a = ε/r − r/2 ≥ −1. Entries with other a are not set.

    For small r it is log ∫ 2 e^{−ct−t²/2} sinh(rt/2) dt with c = ε/r, by the power series of `_odd_moment_series`.
    """
    log_bracket = np.empty_like(a)
    is_series = (a >= -1.0) & (r < 0.5 * np.maximum(1.0, a))
    is_direct = (a >= -1.0) & ~is_series
    if is_series.any():
        c, small_r = np.minimum(eps[is_series] / r[is_series], 1e150), r[is_series]
        is_far = c > _FAR_RATIO  # the moment M_1 is about 1/c² and the rest of the series is below one unit
        log_moment = np.log(_odd_moment_series(np.minimum(c, _FAR_RATIO), small_r))
        log_bracket[is_series] = np.log(small_r) + np.where(is_far, _log_far_bracket(c, small_r), log_moment)
    if is_direct.any():
        log_bracket[is_direct] = np.log(mills(a[is_direct]) - mills(a[is_direct] + r[is_direct]))
    return log_bracket


def _log_far_bracket(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return the log of ∫ e^{−ct} (2/r) sinh(rt/2) dt = 1/(c² − r²/4). The term t²/2 is negligible for c > 1e7."""
    return -np.log(c - 0.5 * r) - np.log(c + 0.5 * r)
