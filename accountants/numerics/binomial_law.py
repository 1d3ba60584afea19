"""Binomial distributions in logarithms, with stated accuracy at any size.

The mass is Loader's saddle-point form, b(k) = √(n/(2πk(n − k))) e^{s(n) − s(k) − s(n − k) − D}, with s the error of
Stirling's formula and D = n KL(k/n‖p) summed from positive terms. Above the mean, with β = n − k, o = p/(1 − p) and
d = (k − np)/(1 − p):

    P(K ≥ k)/b(k) = k ∫₀^∞ e^{−g(v)} dv,   g(v) = d v + β (o v − log(1 + o(1 − e^{−v}))).

Here g is convex and g″ decreases. On [0, V] with g(V) = 48 it is a Gauss–Legendre sum: F = e^{−g} is entire (β is a
whole number), and |F(x + iy)| ≤ e^{−g(x) + g″(x)y²/2} on its Bernstein ellipses. This bounds the sum's relative error
below 1e-14 for the numbers of nodes used here. In w = 1 − e^{−v} the integrand is a polynomial of degree n − 1. For n ≤
47 one sum of 24 nodes is therefore exact. The part beyond V is less than e^{−48} of the whole, by convexity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.binomial.terms import deviance, exponent_gap, quick_exponent_gap, stirling_remainder
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

RATIO_ACCURACY = 2.0**-44
"""Relative error of `tail_ratio` for p = 1/2, measured below 2^-47. For other p, `Binomial.accuracy` adds to it."""
QUICK_RATIO_ACCURACY = 2.0**-40
"""Relative error of `quick_tail_ratio` for p = 1/2 and n ≤ `QUICK_UP_TO`; below 2^-42 was measured for the sum."""
QUICK_UP_TO = 1e6
"""Most trials of `quick_tail_ratio`; rounding of its exponent adds about 8√n units, or 2^-40."""
_POLYNOMIAL_UP_TO = 47
"""Most trials for which one sum of 24 nodes integrates the polynomial of degree n − 1 exactly."""
_FEW_PANELS_FROM = 2e4
"""Number of trials from which two panels are enough, instead of six."""
_MOST_TABLED = 4096
"""Most trials for which the ratios at all counts are tabulated."""
_FEWEST_LOOKED_UP = 16
"""Number of requested ratios from which the table is computed."""
_NODES_PER_PANEL = 24
_ROWS_PER_BLOCK = (1 << 18) // (6 * _NODES_PER_PANEL)
"""Number of integrals that are computed at once: two megabytes of nodes with six panels."""


class _TailQuadrature(NamedTuple):
    """A quadrature rule for the upper tail of a binomial distribution with n trials and success probability p.

    With the odds o = p/(1 − p), the tail is:

        P(K ≥ k)/P(K = k) = k ∫₀^∞ e^{−g(v)} dv,
        g(v) = d v + (n − k) h(v),   d = (k − np)/(1 − p),   h(v) = o v − log(1 + o (1 − e^{−v})).

    The rule integrates up to a finite V, beyond which the integrand is negligible.

    Attributes:
        nodes: nodes on [0, 1], scaled to [0, V].
        weights: weights of the nodes.
        depth: g(V), the exponent at which the integral is cut.
        exponent_gap: function that computes h(v) for odds o.
    """

    nodes: FloatArray
    weights: FloatArray
    depth: float
    exponent_gap: Callable[[FloatArray, float], FloatArray]


def _gauss_rule(panels: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on [0, 1] of the 24-node Gauss–Legendre rule, repeated on equal panels.

    Args:
        panels: number of panels.

    Returns:
        The nodes, increasing, and their weights, which sum to 1.
    """
    x, w = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    starts = np.arange(panels)[:, None]
    return ((starts + 0.5 * (1.0 + x)) / panels).ravel(), np.tile(0.5 * w / panels, panels)


_ONE_PANEL = _gauss_rule(1)
_MODERATE = _TailQuadrature(*_gauss_rule(6), 48.0, exponent_gap)
_LARGE = _TailQuadrature(*_gauss_rule(2), 48.0, exponent_gap)
_QUICK = _TailQuadrature(*_ONE_PANEL, 32.0, quick_exponent_gap)


@dataclass(frozen=True)
class Binomial:
    """The distribution of the number K of successes in independent trials, in logarithms.

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
        """Bound on the error of log masses and log tails, per unit of 1 + |their value|.

        It consists of the rounding of the terms of the logarithm and of the error of p, which is multiplied by √n. If
        p = q, both are 1/2 exactly.
        """
        largest_trials = float(np.max(self.trials, initial=0.0))
        error_of_p = 0.0 if self.p == self.q else 16 * UNIT_ROUNDOFF * math.sqrt(largest_trials)
        return 32 * UNIT_ROUNDOFF + error_of_p

    def log_mass(self, k: FloatArray) -> FloatArray:
        """Return log P(K = k) of the binomial distribution of K successes in n trials.

        For 0 < k < n it is Loader's saddle-point form, with q = 1 − p, the remainder s of Stirling's formula and the
        deviance D (`deviance`):

            log P(K = k) = s(n) − s(k) − s(n − k) − D(k, np) − D(n − k, nq) − ½ log(2π k (n − k)/n).

        Args:
            k: whole numbers of successes.

        Returns:
            One logarithm for each k; −inf outside 0 … n.
        """
        n, k = np.broadcast_arrays(self.trials, k)

        # Entries outside 0 < k < n are computed with 1 of 2 trials, and discarded.
        is_inside = (k > 0) & (k < n)
        successes = np.where(is_inside, k, 1.0)
        failures = np.where(is_inside, n - k, 1.0)
        total = np.where(is_inside, n, 2.0)
        total_deviance = deviance(successes, total * self.p) + deviance(failures, total * self.q)
        remainder = stirling_remainder(total) - stirling_remainder(successes) - stirling_remainder(failures)
        inside = remainder - total_deviance - 0.5 * np.log(2 * math.pi * successes * (failures / total))

        only_failures = _log_power(_log_probability(self.q, self.p), n)
        only_successes = _log_power(_log_probability(self.p, self.q), n)
        at_bounds = np.where(k == 0, only_failures, -np.inf)
        at_bounds = np.where((k == n) & (n > 0), only_successes, at_bounds)
        return np.asarray(np.where(is_inside, inside, at_bounds))

    def tail_ratio(self, k: FloatArray) -> FloatArray:
        """Return R(k) = P(K ≥ k)/P(K = k), the ratio of a binomial upper tail to its first term, above the mean.

        Many ratios for one moderate number of trials are looked up in a table. Others are integrals (module docstring).

        Args:
            k: whole numbers of successes.

        Returns:
            R(k) ≥ 1 for each k with np < k ≤ n; 1 for other k, where it is not needed.
        """
        if self._may_tabulate and np.ndim(k) and np.size(k) >= _FEWEST_LOOKED_UP:
            count = np.clip(np.asarray(k, dtype=np.float64), 0.0, self.trials)
            from_table = self._ratio_table[count.astype(np.int64)]
            is_above_mean = count > self.trials * self.p
            return np.asarray(np.where(is_above_mean, from_table, 1.0))
        trials, count = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        return self._compute_ratios(trials.ravel(), count.ravel()).reshape(trials.shape)

    def _compute_ratios(self, n: FloatArray, k: FloatArray) -> FloatArray:
        """Compute R(k) = P(K ≥ k)/P(K = k) as an integral, by the quadrature that suits the number of trials.

        For few trials, one quadrature sum integrates a polynomial exactly. Otherwise the quadrature has six panels, or
        two panels for very many trials. The result is 1 for k = n, and for k at or below the mean, where it is not
        used.

        Args:
            n: numbers of trials.
            k: numbers of successes, of the same length.

        Returns:
            One ratio R(k) ≥ 1 for each pair of n and k.
        """
        is_needed = (k > n * self.p) & (k < n)
        is_small, is_large = n <= _POLYNOMIAL_UP_TO, n >= _FEW_PANELS_FROM
        ratio = np.ones(n.size)
        # The indices are taken in blocks, because each ratio has a row of nodes in memory.
        for indices in _blocks(is_needed & is_small):
            ratio[indices] = self._ratio_by_polynomial(n[indices], k[indices])
        for indices in _blocks(is_needed & ~is_small & ~is_large):
            ratio[indices] = self._ratio_by_quadrature(n[indices], k[indices], _MODERATE)
        for indices in _blocks(is_needed & is_large):
            ratio[indices] = self._ratio_by_quadrature(n[indices], k[indices], _LARGE)
        return ratio

    @property
    def _may_tabulate(self) -> bool:
        """True if all ratios may be tabulated: for a single, moderate number of trials."""
        return np.ndim(self.trials) == 0 and _POLYNOMIAL_UP_TO < float(self.trials) <= _MOST_TABLED and self.q > 0.0

    @cached_property
    def _ratio_table(self) -> FloatArray:
        """The ratios R(k) = P(K ≥ k)/P(K = k) at k = 0, …, n, from the recurrence below, which starts with R(n) = 1.

            R(k) = 1 + R(k + 1) (n − k) p/((k + 1) q)

        A step rounds by at most six units of roundoff. The error of R(k + 1) affects only the term after the 1, which
        is R(k) − 1. By induction, the relative error of R(k) is at most 6 R(k) units, with R ≤ 2 √(n p q) + 2 above the
        mean.
        """
        size = int(self.trials)
        k = np.arange(size)
        mass_ratios = (size - k) / (k + 1.0) * (self.p / self.q)  # P(K = k + 1)/P(K = k)
        ratios = [1.0]
        for mass_ratio in reversed(mass_ratios.tolist()):
            ratios.append(1.0 + mass_ratio * ratios[-1])
        return np.asarray(ratios[::-1])

    def _ratio_by_polynomial(self, n: FloatArray, k: FloatArray) -> FloatArray:
        """Compute R(k) = P(K ≥ k)/P(K = k) as an integral of a polynomial, exactly up to rounding.

        With the odds o = p/q it is:

            R(k) = k ∫₀¹ (1 − w)^{k−1} (1 + ow)^{n−k} dw.

        The polynomial has the degree n − 1. For it the 24 Gauss–Legendre nodes are exact up to n = 47.

        Args:
            n: numbers of trials, at most `_POLYNOMIAL_UP_TO`.
            k: counts above the mean np, below n.

        Returns:
            One ratio R(k) for each pair of n and k.
        """
        # One row for each pair of n and k, one column for each node w.
        w, weights = _ONE_PANEL
        log_decreasing_factor = (k - 1.0)[:, None] * np.log1p(-w)
        log_increasing_factor = (n - k)[:, None] * np.log1p(self.p / self.q * w)
        return np.asarray(k * (np.exp(log_decreasing_factor + log_increasing_factor) @ weights))

    def quick_tail_ratio(self, k: FloatArray) -> FloatArray:
        """Compute R(k) = P(K ≥ k)/P(K = k) like `tail_ratio`, but faster and less accurately.

        The relative error is at most `QUICK_RATIO_ACCURACY`, plus that of the success probability. The integral has
        only 24 nodes, and ends earlier. If any number of trials exceeds `QUICK_UP_TO`, the result is `tail_ratio`.

        Args:
            k: whole numbers of successes.

        Returns:
            One ratio for each k. It is 1 for k at or below the mean, where it is not needed.
        """
        n, k = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        if n.max(initial=0.0) > QUICK_UP_TO:
            return self.tail_ratio(k)
        ratio = np.ones(n.shape)
        is_needed = (k > n * self.p) & (k < n)
        ratio[is_needed] = self._ratio_by_quadrature(n[is_needed], k[is_needed], _QUICK)
        return ratio

    def _ratio_by_quadrature(self, n: FloatArray, k: FloatArray, method: _TailQuadrature) -> FloatArray:
        """Compute R(k) = P(K ≥ k)/P(K = k) as an integral, by Gauss–Legendre quadrature.

        With q = 1 − p and the odds o = p/q it is:

            R(k) = k ∫₀^V e^{−g(v)} dv,   g(v) = (k − np) v/q + (n − k) (o v − log(1 + o (1 − e^{−v}))).

        Args:
            n: numbers of trials.
            k: counts above the mean np, below n.
            method: nodes, and the exponent g(V) that determines V.

        Returns:
            One ratio for each pair of n and k.
        """
        odds = self.p / self.q
        drift = (k - n * self.p) / self.q
        end = self._integration_end(n, k, method)
        v = end[:, None] * method.nodes
        gap_exponent = (n - k)[:, None] * method.exponent_gap(v, odds)
        log_integrand = -(drift[:, None] * v + gap_exponent)
        return np.asarray(k * end * (np.exp(log_integrand) @ method.weights))

    def _integration_end(self, n: FloatArray, k: FloatArray, method: _TailQuadrature) -> FloatArray:
        """Compute the upper limit V of the integral of e^{−g(v)} in `_ratio_by_quadrature`, the root of g(V) = `depth`.

        The integrand is e^{−g(v)}. With the success probability p, q = 1 − p and the odds o = p/q, g(v) is at least
        kv − (n − k) log(1 + o). So Newton's method starts beyond the root, and its iterates decrease to the root, as g
        is convex. It ends when a step is below 0.1 % of V.

        Args:
            n: numbers of trials.
            k: counts above the mean, below n.
            method: the rule with the exponent `depth`.

        Returns:
            One V > 0 for each pair of n and k.
        """
        odds, failures = self.p / self.q, n - k
        drift = (k - n * self.p) / self.q
        end = (method.depth + failures * math.log1p(odds)) / k
        for _ in range(40):
            # `excess` is g(V) − depth, and `slope` is g′(V).
            excess = drift * end + failures * method.exponent_gap(end, odds) - method.depth
            slope_numerator = failures * odds * (-np.expm1(-end)) * (1.0 + odds)
            slope = drift + slope_numerator / (1.0 + odds - odds * np.exp(-end))
            step = excess / slope
            end = end - step
            if (step <= 1e-3 * end).all():
                break
        return end

    def log_tail(self, k: FloatArray) -> FloatArray:
        """Return log P(K ≥ k) of the binomial distribution of K successes in n trials.

        Above the mean it is log P(K = k) plus the log of `tail_ratio`. At or below the mean it is:

            log(1 − P(n − K ≥ n − k + 1)).

        Here the number n − K of failures is binomial with p and q exchanged.

        Args:
            k: whole numbers of successes.

        Returns:
            One logarithm, at most 0, for each k.
        """
        n, k = np.broadcast_arrays(np.asarray(self.trials, dtype=np.float64), np.asarray(k, dtype=np.float64))
        upper_tail = self.log_mass(k) + np.log(self.tail_ratio(k))

        failure_distribution = Binomial(n, self.q, self.p)
        failures = n - k + 1.0
        lower_tail = failure_distribution.log_mass(failures) + np.log(failure_distribution.tail_ratio(failures))
        complement = np.where(k <= 0, 0.0, log1m_exp(np.minimum(lower_tail, 0.0)))

        is_above_mean = k > n * self.p
        return np.asarray(np.minimum(np.where(is_above_mean, upper_tail, complement), 0.0))


def _log_probability(probability: float, complement: float) -> float:
    """Return log p of a probability p, computed from 1 − p if p is above 1/2, because 1 − p is then more accurate.

    Args:
        probability: p.
        complement: 1 − p, with its own relative accuracy.

    Returns:
        The logarithm, at most 0; −inf for p = 0.
    """
    if probability > 0.5:
        return math.log1p(-complement)
    return math.log(probability) if probability > 0.0 else -math.inf


def _log_power(log_base: float, exponent: FloatArray) -> FloatArray:
    """Return log bⁿ = n log b for each exponent n, with 0⁰ = 1.

    Args:
        log_base: log b ≤ 0; −inf for b = 0.
        exponent: values of n ≥ 0.
    """
    if math.isfinite(log_base):
        return exponent * log_base
    return np.where(exponent == 0, 0.0, -np.inf)


def _blocks(
    chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Return the indices of the True elements of a mask, divided into blocks of at most `_ROWS_PER_BLOCK`.

    Args:
        chosen: the mask.

    Returns:
        One increasing array of indices for each block.
    """
    indices = np.flatnonzero(chosen)
    return [indices[start : start + _ROWS_PER_BLOCK] for start in range(0, indices.size, _ROWS_PER_BLOCK)]
