"""The bound on δ for Gaussian noise on a sum in which a contribution is counted a random number of times.

A record is drawn k times with probability w_k. Let η = Σ w_k over k ≥ 1, and π_k = w_k/η. For α = e^ε ≥ 1 let
γ = 1 + (α − 1)/η and β = α/γ. The bound is:

    δ(ε) = η ((1 − β) G + β S),   G = E_γ(Σ π_k N(r_k, 1) ‖ N(0, 1)),   S = Σ π_k E_γ(N(d_k, 1) ‖ N(0, 1)).

r_k is the largest distance of a batch that has the record k times from one that has other records in its place. d_k is
the largest distance from one that has the replacement in its place (docs/engine-certificate.md, Unseen multiplicities).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Enclosure, Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_normal_tail
from epsilond.accountants.profiles.bound import NEGLIGIBLE_LOG_DELTA, Bound
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture
from epsilond.accountants.profiles.sampling.inclusion import NUDGE, base_epsilon
from epsilond.accountants.profiles.weighted_groups import GaussianGroups, MultiplicityProfile

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_NEWTON_STEPS = 40
"""Largest number of Newton steps; some ten are enough, and fewer give a valid but larger bound."""
_SETTLED = 1e-13
"""Relative change of a root at which Newton's method stops."""
_TAIL_ACCURACY = 256 * UNIT_ROUNDOFF
"""Bound on the error of a log mass of a mixture, per unit of 1 + |log mass|."""
_SCAN = 192
"""Number of ε at which the bound is first evaluated to place the entries of its table."""
_LEAST_SCANNED = 1e-9
"""Least scanned ε above 0, relative to the end of the table."""
_DROP = 0.02
"""Decrease of log δ between two entries of the table, down to `_DEEP`; a chord is then 5e-5 above the bound at most."""
_DEEP = -40.0
"""Log δ below which entries are wider apart."""
_DEEPER = 128
"""Number of entries of the table below `_DEEP`."""


@dataclass(frozen=True)
class DrawnSumBound(Bound):
    """The bound on δ for Gaussian noise on a sum that counts a contribution a random number of times k.

    With η the probability of k ≥ 1, γ = 1 + (e^ε − 1)/η and β = e^ε/γ, it is:

        δ(ε) = η ((1 − β) G + β S).

    Given k ≥ 1, π_k is the probability of k. G is the hockey-stick divergence at γ of Σ π_k N(r_k, 1) and N(0, 1). S is
    the sum of π_k times that of N(d_k, 1) and N(0, 1). The bound holds in one direction of the pair.

    Attributes:
        rate: η, rounded up, in (0, 1].
        log_probabilities: log π_k. The distribution of k is rounded up in the stochastic order.
        shifts: r_k, positive and increasing, in standard deviations of the noise. r_k is the largest distance of a
            batch that has the record k times from one that has other records in its place.
        log_weights: log w_k with w_k = η π_k, the probability of k.
        replaced_shifts: d_k, in standard deviations of the noise. d_k is the largest distance of such a batch from one
            that has the replacement in the record's place.
        accuracy: bound on the error of each log weight.
        log_rest: log-probability of an infinite loss, for the k that are left out.
    """

    rate: float
    log_probabilities: tuple[float, ...]
    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]
    replaced_shifts: tuple[float, ...]
    accuracy: float
    log_rest: float = -math.inf

    @cached_property
    def _mixture(self) -> LineMixture:
        """The mixture Σ π_k N(r_k, 1)."""
        return LineMixture(self.log_probabilities, self.shifts)

    @cached_property
    def _replaced(self) -> MultiplicityProfile:
        """The profile η Σ π_k E_γ(N(d_k, 1) ‖ N(0, 1)), in which k is revealed."""
        groups = GaussianGroups(self.replaced_shifts)
        return MultiplicityProfile(groups, self.log_weights, self.rate, self.accuracy, self.log_rest)

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the logarithm of the bound at one ε ≥ 0."""
        return self.log_bounds(np.asarray([epsilon]))[0]

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Enclose the logarithm of the bound at several ε ≥ 0."""
        lower, upper = self.enclose(np.asarray(epsilons, dtype=np.float64))
        return [Interval(*bounds) for bounds in zip(lower.tolist(), upper.tolist(), strict=True)]

    def upper_log_bounds(self, epsilons: FloatArray) -> FloatArray:
        """Return the upper bounds of `log_bounds`."""
        return self.enclose(np.asarray(epsilons, dtype=np.float64)).upper

    def enclose(self, epsilon: FloatArray) -> Enclosure:
        """Enclose the log of a bound on δ if a contribution is counted a random number of times.

        Let η be the probability that it is counted at all, γ = 1 + (e^ε − 1)/η and β = e^ε/γ. The bound is:

            η ((1 − β) G + β S),      G = E_γ(Σ π_k N(r_k, 1) ‖ N(0, 1)),      S = Σ π_k E_γ(N(d_k, 1) ‖ N(0, 1)),

        with the attributes π_k, r_k and d_k, and the hockey-stick divergence E_γ. β and 1 − β are both rounded outward.
        γ is rounded down for an upper bound, because divergences decrease with γ.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on the logarithm, one for each ε.
        """
        # Bounds on log γ, and log β with a bound on its error.
        least_base = base_epsilon(epsilon * (1.0 - NUDGE), self.rate)
        largest_base = base_epsilon(epsilon * (1.0 + NUDGE), self.rate)
        log_beta = np.minimum(epsilon - least_base, 0.0)
        one_minus_beta = -np.expm1(log_beta)
        margin = 4 * NUDGE * (1.0 + largest_base)

        mixture = self._log_mixture(least_base, largest_base)  # log G
        replaced = self._replaced.log_delta(epsilon)  # log(η S)
        log_rate = math.log(self.rate)
        with np.errstate(divide="ignore"):
            least_factor = np.log(np.maximum(one_minus_beta - margin, 0.0))
            largest_factor = np.log(np.minimum(one_minus_beta + margin, 1.0))

        # The sum of both terms, first rounded down and then rounded up.
        lower = np.logaddexp(least_factor + log_rate + mixture.lower, log_beta - margin + replaced.lower)
        largest_log_beta = np.minimum(log_beta + margin, 0.0)
        upper = np.logaddexp(largest_factor + log_rate + mixture.upper, largest_log_beta + replaced.upper)

        # The roundings of the factors and of the logarithms, and the errors of the weights.
        slack = 4 * NUDGE + self.accuracy
        upper = np.minimum(np.logaddexp(upper + slack, self.log_rest), 0.0)
        return Enclosure(np.asarray(np.minimum(lower - slack, upper)), np.asarray(upper))

    def _log_mixture(self, least: FloatArray, largest: FloatArray) -> Enclosure:
        """Enclose the log of the hockey-stick divergence of a Gaussian mixture and a normal distribution.

        It is E_γ(P‖Q) of P = Σ π_k N(r_k, 1) and Q = N(0, 1), where γ is known only within bounds. A half-line x > c is
        a test, so that P(x > c) − γ Q(x > c) is a lower bound for every c. Let c* be the point at which the loss
        log dP/dQ is log γ. The loss is convex and increasing in x, so that Newton's method started above c* stays above
        c*. Its slope is at least r₁, so that c = x − ρ/r₁ is at most c* if the loss at x is log γ + ρ. Between c and c*
        the half-line subtracts ∫(γ dQ − dP). This is at most (e^s − 1) P(x > c) for s = log γ − log dP/dQ(c).

        Args:
            least: lower bounds on log γ.
            largest: upper bounds on log γ, in the same order.

        Returns:
            Lower and upper bounds on log E_γ, one for each γ.
        """
        smallest_shift, largest_shift = self.shifts[0], self.shifts[-1]

        # A point x above c*, and a bound on the rounding errors of the loss near it.
        x = self._point_above(least)
        # The error of the loss: exponents of the size of shift times x, and one unit for each component.
        rounding = 64 * UNIT_ROUNDOFF * (1.0 + largest_shift * (np.abs(x) + largest_shift) + least)
        rounding = rounding + 64 * UNIT_ROUNDOFF * len(self.shifts)

        # The point c below c*, and a bound on s.
        excess = np.maximum(self._mixture.log_density_ratio(x) - least, 0.0)  # ρ
        cut = x - (excess + rounding) / smallest_shift  # c
        shortfall = np.abs(self._mixture.log_density_ratio(cut) - least) + 2.0 * rounding  # s

        # P(x > c) and γ Q(x > c), each rounded down and up, and their differences.
        log_p, log_q = self._mixture.log_tail(cut, side=1), np.asarray(log_normal_tail(cut))
        slack = _TAIL_ACCURACY * (1.0 + np.abs(log_p) + np.abs(log_q) + largest)
        largest_p, least_p = log_p + shortfall + slack, log_p - slack
        least_scaled_q, largest_scaled_q = log_q + least - slack, log_q + largest + slack
        upper = log_difference(largest_p, np.minimum(least_scaled_q, largest_p))
        lower = log_difference(least_p, np.minimum(largest_scaled_q, least_p))
        return Enclosure(np.asarray(lower), np.minimum(upper, 0.0))

    def _point_above(self, epsilon: FloatArray) -> FloatArray:
        """Compute a point x at or above the one at which the log likelihood ratio of the mixture to N(0, 1) is ε.

        The ratio is at least the term of any component, which gives a first point above the solution. The log ratio is
        increasing and convex, so that steps of Newton's method from above stay above, up to rounding.

        Args:
            epsilon: array of ε, in nats.

        Returns:
            One point for each ε, in standard deviations.
        """
        log_weights = np.asarray(self.log_probabilities)[:, None]
        shifts = np.asarray(self.shifts)[:, None]

        # The term of component k is π_k e^{r_k x − r_k²/2}. The first x is the least at which one term reaches e^ε.
        x = ((epsilon - log_weights) / shifts + 0.5 * shifts).min(axis=0)
        for _ in range(_NEWTON_STEPS):
            loss, slope = self._mixture.log_density_ratio_and_slope(x)
            step = np.maximum(loss - epsilon, 0.0) / slope
            x = x - step
            has_settled = step <= _SETTLED * (1.0 + np.abs(x))
            if bool(has_settled.all()):
                break
        return np.asarray(x)

    @property
    def negligible_from(self) -> float:
        """An ε in nats from which on the bound is negligible, a power of 2; at most `LARGEST_EPSILON`."""
        scanned = 2.0 ** np.arange(-20.0, math.log2(LARGEST_EPSILON) + 1.0)
        is_negligible = self.upper_log_bounds(scanned) <= NEGLIGIBLE_LOG_DELTA
        if not is_negligible.any():
            return float(scanned[-1])
        return float(scanned[int(np.argmax(is_negligible))])

    def corners(self, end: float) -> FloatArray:
        """Return increasing values of ε for a table of the bound, dense where log δ falls fast.

        log δ falls by about `_DROP` at most from one to the next. Below e^−40 there are about `_DEEPER` of them.

        Args:
            end: largest ε of the table, in nats.

        Returns:
            The ε in nats, from 0 to `end`.
        """
        scanned = np.append(0.0, np.geomspace(_LEAST_SCANNED * end, end, _SCAN))
        log_values = np.minimum.accumulate(self.upper_log_bounds(scanned))
        first, last = float(log_values[0]), float(log_values[-1])

        # The ε at which an interpolation of the scanned values has given values of log δ.
        chosen_values = np.arange(first, max(last, _DEEP), -_DROP)
        if last < _DEEP:
            chosen_values = np.append(chosen_values, np.linspace(_DEEP, last, _DEEPER))
        chosen = np.interp(-chosen_values, -log_values, scanned)
        return np.unique(np.concatenate((scanned, chosen)))
