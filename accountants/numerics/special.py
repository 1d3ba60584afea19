"""Log-space primitives of Gaussian privacy, with stated and tested accuracy.

θ_ε(r) = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r) is the hockey-stick divergence between N(0, 1) and N(r, 1) at e^ε (Balle and
Wang 2018, Theorem 8; the contraction coefficient of Asoodeh et al. 2021, Lemma 2). The textbook difference loses all
digit for small r and overflows for ε > 709. Here both log θ and log(1 − θ) are sums of positive terms.

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
    """Return a = ε/r − r/2 as an unevaluated sum of two doubles, high + low.

    The division has one Newton correction with an exact remainder. For ε = 1e9 and r = 5e4 the plain quotient has an
    error of 1e-11, which a²/2 would amplify to 1e-6.

    Args:
        epsilon: ε.
        shift: r.
    """
    square, square_low = _two_product(shift, shift)
    half, half_low = 0.5 * square, 0.5 * square_low
    gap = epsilon - half
    removed = gap - epsilon
    gap_low = (epsilon - (gap - removed)) - (half + removed) - half_low
    high = gap / shift
    product, product_low = _two_product(high, shift)
    low = ((gap - product) - product_low + gap_low) / shift
    rounded = high + low
    return rounded, (high - rounded) + low


def _log_density(high: Numbers, low: Numbers) -> Numbers:
    """Return log φ(high + low)."""
    square, square_low = _two_product(high, high)
    return -0.5 * square - (0.5 * square_low + high * low) - _LOG_SQRT_2PI


def _odd_moment_series(c: FloatArray, shift: FloatArray) -> FloatArray:
    """Return 2 ∫ e^{−ct−t²/2} sinh(rt/2) dt / r by its power series in r, for r < max(1, c)/2.

    The moments M_n = ∫ tⁿ e^{−ct−t²/2} dt satisfy M_{n+1} = n M_{n−1} − c M_n. This is stable forwards only for c ≤ 1.
    For larger c, the ratios h_n = M_n/M_{n−1} = n/(c + h_{n+1}) are computed backwards from their large-n form.
    """
    if c.size <= _FEW:
        arguments = zip(c.ravel().tolist(), mills(c).ravel().tolist(), shift.ravel().tolist(), strict=True)
        return np.asarray([_odd_moment_sum(*triple) for triple in arguments]).reshape(c.shape)
    orders = 2 * _SERIES_TERMS
    moments = np.empty((orders, *c.shape))
    moments[0] = mills(c)
    near, far = c <= 1.0, c > 1.0
    if near.any():
        forward = c[near]
        previous, current = moments[0][near], 1.0 - forward * moments[0][near]
        moments[1][near] = current
        for n in range(1, orders - 1):
            previous, current = current, n * previous - forward * current
            moments[n + 1][near] = current
    if far.any():
        backward = c[far]
        extra = 220 if backward.min() < 3 else (80 if backward.min() < 20 else 24)
        last = orders + extra
        ratio = 0.5 * (np.sqrt(backward * backward + 4.0 * last) - backward)
        ratios = np.empty((orders, backward.size))
        for n in range(last - 1, 0, -1):
            ratio = n / (backward + ratio)
            if n < orders:
                ratios[n] = ratio
        running = moments[0][far]
        for n in range(1, orders):
            running = running * ratios[n]
            moments[n][far] = running
    half = 0.5 * shift
    total, factor = np.zeros_like(c), np.ones_like(c)
    for j in range(_SERIES_TERMS):
        total = total + factor * moments[2 * j + 1]
        factor = factor * half * half / ((2 * j + 2) * (2 * j + 3))
    return total


def _odd_moment_sum(c: float, first: float, shift: float) -> float:
    """Return the result of `_odd_moment_series` for one c, which is quicker for few numbers.

    As h_n ≤ n/c and h_n ≤ √n, a term is at most q = (r/(2 max(1, c)))² times the previous one. From q^J < 2^−60 on, the
    terms are below a unit of the first. In the backward recurrence an error of h_N is multiplied at each n by
    h_n/(c + h_{n+1}). The product is about e^{−2c(√N − √n)} if √n is beyond c, and less than n/c² for each n otherwise.

    Args:
        c: ε/r.
        first: M_0, the Mills ratio at c.
        shift: r.
    """
    step = 0.5 * shift / max(1.0, c)
    terms = min(math.ceil(_NEGLIGIBLE_TERM / max(-2.0 * math.log(step), 1e-9)), _SERIES_TERMS) if step > 0.0 else 1
    orders = 2 * terms
    if c <= 1.0:
        previous, current = first, 1.0 - c * first
        odd = [current]
        for n in range(1, orders - 2, 2):
            previous = n * previous - c * current
            current = (n + 1) * current - c * previous
            odd.append(current)
    else:
        most = 2 * _SERIES_TERMS + (220 if c < 3 else (80 if c < 20 else 24))
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
    square, total, factor = 0.25 * shift * shift, 0.0, 1.0
    for j, moment in enumerate(odd):
        total += factor * moment
        factor *= square / ((2 * j + 2) * (2 * j + 3))
    return total


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
    """Return log θ_ε(r) and log(1 − θ_ε(r)), broadcast, with the limits at extreme arguments."""
    eps, r = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(shift, dtype=np.float64))
    if eps.size <= _FEW:
        pairs = zip(eps.ravel().tolist(), r.ravel().tolist(), strict=True)
        logs = [theta_logs(*pair) for pair in pairs]
        values, rests = np.asarray(logs, dtype=np.float64).reshape(-1, 2).T
        return values.reshape(eps.shape), rests.reshape(eps.shape)
    log_value, log_rest = np.full(eps.shape, -np.inf), np.zeros(eps.shape)
    infinite = np.isposinf(r)
    log_value[infinite], log_rest[infinite] = 0.0, -np.inf
    regular = (r > 0) & ~infinite & np.isfinite(eps)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        rough = np.where(regular, eps / r - 0.5 * r, 0.0)
    beyond, before = regular & (rough > FARTHEST), regular & (rough < -FARTHEST)
    log_value[beyond], log_value[before], log_rest[before] = LEAST_LOG, 0.0, LEAST_LOG
    inside = regular & ~beyond & ~before
    if inside.any():
        log_value[inside], log_rest[inside] = _theta_inside(eps[inside], r[inside])
    return log_value, log_rest


def theta_logs(epsilon: float, shift: float) -> tuple[float, float]:
    """Return log θ_ε(r) and log(1 − θ_ε(r)) of two numbers, with the accuracy of `log_theta`.

    This is quicker for few numbers.
    """
    if shift == math.inf:
        return 0.0, -math.inf
    if not shift > 0.0 or not math.isfinite(epsilon):
        return -math.inf, 0.0
    rough = epsilon / shift - 0.5 * shift
    if abs(rough) > FARTHEST:
        return (LEAST_LOG, 0.0) if rough > 0.0 else (0.0, LEAST_LOG)
    a, a_low = _threshold(epsilon, shift)
    log_density = _log_density(a, a_low)
    if a < -1.0:
        rest = min(log_density + math.log(_mills_at(-a) + _mills_at(max(a + shift, 0.0))), 0.0)
        return log1m_exp_at(rest), rest
    if shift < 0.5 * max(1.0, a):
        c = min(epsilon / shift, 1e150)
        far = c > _FAR_RATIO
        moment = -math.log(c - 0.5 * shift) - math.log(c + 0.5 * shift) if far else math.log(_odd_moment_at(c, shift))
        log_bracket = math.log(shift) + moment
    else:
        log_bracket = math.log(_mills_at(a) - _mills_at(a + shift))
    value = min(log_density + log_bracket, 0.0)
    return value, log1m_exp_at(value)


def _mills_at(x: float) -> float:
    return _SQRT_HALF_PI * float(erfcx(x * _SQRT_HALF))


def _odd_moment_at(c: float, shift: float) -> float:
    return _odd_moment_sum(c, _mills_at(c), shift)


def log1m_exp_at(x: float) -> float:
    """Return log(1 − e^x) for x ≤ 0."""
    if x == 0.0:
        return -math.inf
    return math.log1p(-math.exp(x)) if x < -math.log(2.0) else math.log(-math.expm1(x))


def _theta_inside(eps: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and log(1 − θ_ε(r)) for finite ε, and r > 0 with |ε/r − r/2| ≤ `FARTHEST`."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        a, a_low = _threshold(eps, r)
        log_density = _log_density(a, a_low)
        log_bracket = np.empty_like(a)
        series = (a >= -1.0) & (r < 0.5 * np.maximum(1.0, a))
        direct = (a >= -1.0) & ~series
        if series.any():
            c = np.minimum(eps[series] / r[series], 1e150)
            near_limit = c > _FAR_RATIO  # M_1(c) → 1/c² and the rest of the series is below one unit
            value = np.log(r[series])
            moment = _odd_moment_series(np.minimum(c, _FAR_RATIO), r[series])
            log_bracket[series] = value + np.where(near_limit, _log_far_bracket(c, r[series]), np.log(moment))
        if direct.any():
            log_bracket[direct] = np.log(mills(a[direct]) - mills(a[direct] + r[direct]))
        below = a < -1.0
        rest = np.minimum(log_density + np.log(mills(np.where(below, -a, 0.0)) + mills(np.maximum(a + r, 0.0))), 0.0)
        log_value = np.minimum(np.where(below, log1m_exp(np.where(below, rest, 0.0)), log_density + log_bracket), 0.0)
        log_rest = np.where(below, rest, log1m_exp(log_value))
    return log_value, log_rest


def _log_far_bracket(c: FloatArray, r: FloatArray) -> FloatArray:
    """Return the log of ∫ e^{−ct} (2/r) sinh(rt/2) dt = 1/(c² − r²/4). The term t²/2 is negligible for c > 1e7."""
    return -np.log(c - 0.5 * r) - np.log(c + 0.5 * r)
