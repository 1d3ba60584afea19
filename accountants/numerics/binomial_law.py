"""Binomial distributions in logarithms, with stated accuracy at any size.

The mass is Loader's saddle-point form, b(k) = √(n/(2πk(n − k))) e^{s(n) − s(k) − s(n − k) − D}, with s the error of
Stirling's formula and D = n KL(k/n‖p) summed from positive terms. Above the mean, with β = n − k, o = p/(1 − p) and
d = (k − np)/(1 − p),

    P(K ≥ k)/b(k) = k ∫₀^∞ e^{−g(v)} dv,   g(v) = d v + β (o v − log(1 + o(1 − e^{−v}))),

where g is convex and g″ decreases. On [0, V] with g(V) = 48 it is a Gauss–Legendre sum: F = e^{−g} is entire (β is a
whole number), and |F(x + iy)| ≤ e^{−g(x) + g″(x)y²/2} on its Bernstein ellipses, which bounds the sum's relative error
below 1e-14 for the numbers of nodes used here. In w = 1 − e^{−v} the integrand is a polynomial of degree n − 1. For
n ≤ 47 one sum of 24 nodes is therefore exact. The part beyond V is less than e^{−48} of the whole, by convexity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

    _Rule = tuple[FloatArray, FloatArray]
    _Curved = Callable[[FloatArray, float], FloatArray]

RATIO_ACCURACY = 2.0**-44
"""Relative error of `tail_ratio` for p = 1/2, measured below 2^-47. For other p, `Binomial.accuracy` adds to it."""

QUICK_RATIO_ACCURACY = 2.0**-40
"""Relative error of `quick_tail_ratio` for p = 1/2 and n ≤ `QUICK_UP_TO`; below 2^-42 was measured for the sum."""
QUICK_UP_TO = 1e6
"""Most trials of `quick_tail_ratio`; rounding of its exponent adds about 8√n units, or 2^-40."""

_EXACT_UP_TO, _LARGE = 47, 2e4
_MOST_TABLED, _ASKED = 4096, 16
_DEPTH, _QUICK_DEPTH = 48.0, 32.0
_PANELS = {True: 2, False: 6}
_CHUNK = 1 << 18
_STIRLING_TABLE = np.asarray(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi) for n in range(1, 16)]
)


def _rule(panels: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1] of 24-node Gauss–Legendre sums over equal panels."""
    x, w = np.polynomial.legendre.leggauss(24)
    starts = np.arange(panels)[:, None]
    return ((starts + 0.5 * (1.0 + x)) / panels).ravel(), np.tile(0.5 * w / panels, panels)


_RULES = {large: _rule(_PANELS[large]) for large in _PANELS}
_POLYNOMIAL_RULE = _rule(1)


def _stirling_error(n: FloatArray) -> FloatArray:
    """Return log n! − (n + 1/2) log n + n − log √(2π), and 0 at n = 0, where it is not used."""
    small = n < 16.0
    x = 1.0 / np.where(small, 16.0, n)
    y = x * x
    series = x * (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188)))))
    return np.asarray(np.where(small, _STIRLING_TABLE[np.minimum(n, 15.0).astype(np.int64)], series))


def _deviance(x: FloatArray, mean: FloatArray) -> FloatArray:
    """Return x log(x/mean) + mean − x ≥ 0, to a few units in the last place of x − mean (Loader's bd0), for x > 0."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    z = np.where(near, v, 0.0)
    y = z * z
    tail = np.zeros_like(y)
    for j in range(10, 0, -1):
        tail = y * (1.0 / (2 * j + 1) + tail)
    series = (x - mean) * z + 2.0 * x * z * tail
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = x * np.log(x / mean) + mean - x
    return np.asarray(np.where(near, series, direct))


def _deficit(x: FloatArray) -> FloatArray:
    """Return x − log(1 + x) for x ≥ 0, with relative accuracy."""
    z = np.where(x < 0.125, x, 0.0)
    series = np.zeros_like(z)
    for j in range(20, 1, -1):
        series = z * ((-1.0 if j % 2 else 1.0) / j + series)
    return np.asarray(np.where(x < 0.125, z * series, x - np.log1p(x)))


def _excess(v: FloatArray) -> FloatArray:
    """Return v + e^{−v} − 1 for v ≥ 0, with relative accuracy."""
    z = np.where(v < 0.125, v, 0.0)
    series = np.zeros_like(z)
    for j in range(12, 1, -1):
        series = z * ((-1.0 if j % 2 else 1.0) / math.factorial(j) + series)
    return np.asarray(np.where(v < 0.125, z * series, v + np.expm1(-v)))


@dataclass(frozen=True)
class Binomial:
    """The distribution of the number of successes in independent trials.

    Attributes:
        trials: number n of trials, a whole number held in a float, or an array, which broadcasts with the counts.
        p: probability of success.
        q: 1 − p, with its own relative accuracy.
    """

    trials: FloatArray
    p: float
    q: float

    @property
    def accuracy(self) -> float:
        """Error of log masses and tails per unit of 1 + |their log|. The error of p itself is multiplied by √n."""
        largest = float(np.max(self.trials, initial=0.0))
        return 32 * UNIT_ROUNDOFF + (0.0 if self.p == self.q else 16 * UNIT_ROUNDOFF * math.sqrt(largest))

    def log_mass(self, k: FloatArray) -> FloatArray:
        """Return log P(K = k); −inf outside 0 … n."""
        n, k = np.broadcast_arrays(self.trials, k)
        inside = (k > 0) & (k < n)
        x, y, size = np.where(inside, k, 1.0), np.where(inside, n - k, 1.0), np.where(inside, n, 2.0)
        deviance = _deviance(x, size * self.p) + _deviance(y, size * self.q)
        errors = _stirling_error(size) - _stirling_error(x) - _stirling_error(y)
        middle = errors - deviance - 0.5 * np.log(2 * math.pi * x * (y / size))
        log_p, log_q = self._logs()
        ends = np.where(k == 0, n * log_q if math.isfinite(log_q) else np.where(n == 0, 0.0, -np.inf), -np.inf)
        ends = np.where((k == n) & (n > 0), n * log_p if math.isfinite(log_p) else -np.inf, ends)
        return np.asarray(np.where(inside, middle, ends))

    def _logs(self) -> tuple[float, float]:
        """Return log p and log q. The logarithm nearer to zero is computed from the other probability."""
        log_p = math.log1p(-self.q) if self.p > 0.5 else (math.log(self.p) if self.p > 0 else -math.inf)
        log_q = math.log1p(-self.p) if self.q > 0.5 else (math.log(self.q) if self.q > 0 else -math.inf)
        return log_p, log_q

    def tail_ratio(self, k: FloatArray) -> FloatArray:
        """Return P(K ≥ k)/P(K = k) for np < k ≤ n, and 1 for other k, where it is not needed."""
        if self._tabled and np.ndim(k) and np.size(k) >= _ASKED:
            at = np.clip(np.asarray(k, dtype=np.float64), 0.0, self.trials)
            return np.asarray(np.where(at > self.trials * self.p, self._ratios[at.astype(np.int64)], 1.0))
        n, k = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        shape, n, k = n.shape, n.ravel(), k.ravel()
        ratio = np.ones(n.size)
        wanted = (k > n * self.p) & (k < n)
        small = n <= _EXACT_UP_TO
        for chosen, ratios in (
            (wanted & small, self._polynomial_ratio),
            (wanted & ~small & (n < _LARGE), lambda a, b: self._ratio(a, b, large=False)),
            (wanted & (n >= _LARGE), lambda a, b: self._ratio(a, b, large=True)),
        ):
            places = np.flatnonzero(chosen)
            step = _CHUNK // 144
            for start in range(0, places.size, step):
                part = places[start : start + step]
                ratio[part] = ratios(n[part], k[part])
        return ratio.reshape(shape)

    @property
    def _tabled(self) -> bool:
        """True if all ratios are tabulated when several are requested: for a single, moderate number of trials."""
        return np.ndim(self.trials) == 0 and _EXACT_UP_TO < float(self.trials) <= _MOST_TABLED and self.q > 0.0

    @cached_property
    def _ratios(self) -> FloatArray:
        """Ratios R(k) = P(K ≥ k)/P(K = k) at every k: R(n) = 1, R(k) = 1 + R(k + 1) (n − k) p/((k + 1) q).

        A step rounds by at most six units. Of R(k), the share 1 − 1/R has the error of the previous ratio. The relative
        error of R(k) is therefore at most 6 R units, with R ≤ 2 √(n p q) + 2 above the mean.
        """
        size = int(self.trials)
        below = np.arange(size)
        factors = ((size - below) / (below + 1.0) * (self.p / self.q)).tolist()
        ratios = [1.0]
        for factor in reversed(factors):
            ratios.append(1.0 + factor * ratios[-1])
        return np.asarray(ratios[::-1])

    def _polynomial_ratio(self, n: FloatArray, k: FloatArray) -> FloatArray:
        """Return k ∫₀¹ (1 − w)^{k−1} (1 + ow)^β dw, exactly up to rounding."""
        w, weight = _POLYNOMIAL_RULE
        log_f = (k - 1.0)[:, None] * np.log1p(-w) + (n - k)[:, None] * np.log1p(self.p / self.q * w)
        return np.asarray(k * (np.exp(log_f) @ weight))

    def quick_tail_ratio(self, k: FloatArray) -> FloatArray:
        """Return `tail_ratio` within `QUICK_RATIO_ACCURACY`, by the 24 nodes of one panel up to a lower depth."""
        n, k = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        if n.max(initial=0.0) > QUICK_UP_TO:
            return self.tail_ratio(k)
        ratio = np.ones(n.shape)
        wanted = (k > n * self.p) & (k < n)
        ratio[wanted] = self._integral(n[wanted], k[wanted], _POLYNOMIAL_RULE, _QUICK_DEPTH, self._quickly_curved)
        return ratio

    def _ratio(self, n: FloatArray, k: FloatArray, *, large: bool) -> FloatArray:
        return self._integral(n, k, _RULES[large], _DEPTH, self._exponent_gap)

    def _integral(self, n: FloatArray, k: FloatArray, rule: _Rule, depth: float, curved: _Curved) -> FloatArray:
        """Return k ∫₀^V e^{−g} with g(V) = `depth`.

        Args:
            n: numbers of trials.
            k: counts above the mean, below n.
            rule: nodes and weights on [0, 1].
            depth: value of g at the end of the integral.
            curved: o v − log(1 + o(1 − e^{−v})), as a function of v and o.
        """
        odds = self.p / self.q
        drift, rest = (k - n * self.p) / self.q, n - k
        # g(v) ≥ kv − β log(1 + o), so this start is beyond the root. Newton's method decreases to it, as g is convex.
        end = (depth + rest * math.log1p(odds)) / k
        for _ in range(40):
            decay = np.exp(-end)
            value = drift * end + rest * curved(end, odds) - depth
            slope = drift + rest * odds * (-np.expm1(-end)) * (1.0 + odds) / (1.0 + odds - odds * decay)
            step = value / slope
            end = end - step
            if (step <= 1e-3 * end).all():
                break
        x, weight = rule
        v = end[:, None] * x
        log_f = -(drift[:, None] * v + rest[:, None] * curved(v, odds))
        return np.asarray(k * end * (np.exp(log_f) @ weight))

    @staticmethod
    def _exponent_gap(v: FloatArray, odds: float) -> FloatArray:
        """Return o v − log(1 + o(1 − e^{−v}))."""
        return odds * _excess(v) + _deficit(-odds * np.expm1(-v))

    @staticmethod
    def _quickly_curved(v: FloatArray, odds: float) -> FloatArray:
        """Return `_exponent_gap` up to a few units in the last place of v."""
        return np.asarray(odds * v - np.log1p(-odds * np.expm1(-v)))

    def log_tail(self, k: FloatArray) -> FloatArray:
        """Return log P(K ≥ k)."""
        n, k = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        above = k > n * self.p
        upper = self.log_mass(k) + np.log(self.tail_ratio(k))
        mirrored = Binomial(n, self.q, self.p)
        j = n - k + 1.0
        lower = mirrored.log_mass(j) + np.log(mirrored.tail_ratio(j))
        below = np.where(k <= 0, 0.0, log1m_exp(np.minimum(lower, 0.0)))
        return np.asarray(np.minimum(np.where(above, upper, below), 0.0))
