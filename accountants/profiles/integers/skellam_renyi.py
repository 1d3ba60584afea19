"""The Rényi divergence of Skellam noise of variance μ and its shift by k, at every real order.

Let L be the loss, t = a − 1, and K = t D_a = log E[e^{tL}] under the noise. E[e^{−L}] = 1, so

    e^K − 1 = E[(e^{tL} − 1) + t (e^{−L} − 1)],

where every term is positive and grows with |L|. Outcomes from k − R to R are listed. Of the others, those above R add
at most t P(noise > R − k). Those below are less than a geometric series. Neighbouring terms at −n have a quotient of at
most q(n). The function q falls, and log q(n) is t (arsinh((n + k + 1)/μ) − arsinh(n/μ)) − arsinh(n/μ). For the
quotients r_n of neighbouring probabilities this is n + √(n² + μ²) ≤ μ/r_n ≤ n + 1 + √((n + 1)² + μ²) (Amos 1974). R is
enlarged until the series converges. Two bounds in closed form hold for every t > 0 and v cosh v = tk/μ:

    K ≤ (k²/2μ) t² + (k²/μ) t + log 2;

    K ≤ tk (v + (k/μ)/cosh v − tanh v) + μ (cosh v − 1) + log 2.

Proofs: docs/integer-noise.md, Divergences at given orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.integers.skellam_concentration import largest_quotient
from epsilond.accountants.profiles.integers.skellam_table import SkellamTable, log_tail, skellam_table

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

MOST_LISTED = 2**18
"""Largest R beyond the usual table, which takes a tenth of a second. Larger orders use the closed form."""
_LARGEST_EXPONENT = 600.0
"""Largest exponent [nat] of the sum of positive terms; a sum of logarithms is used beyond it."""
_LARGEST_QUOTIENT, _NEGLIGIBLE = -1e-4, -40.0
"""Largest logarithm of the quotient of the geometric series, and of the series next to the largest term, if any."""
_FIRST, _RATIO, _COARSE_RATIO, _MANY = 1e-3, 1.05, 1.2, 2**14
"""First order minus 1 of the search for ρ, quotients of neighbouring ones, and the size of a table for the second."""
_LARGEST_FALL = 2000.0
"""Bound on the logarithms of probabilities of the usual table."""
_BISECTIONS = 60
_CLOSE = 1.002
"""Quotient of the closed form and the largest quotient so far at which the search for ρ ends."""
_ROUNDED = 1.0 + 16 * UNIT_ROUNDOFF


class _Listed(NamedTuple):
    """The outcomes y from k − R to R of Skellam noise, with their losses against its shift by k.

    Attributes:
        table: the noise.
        least: losses, moved towards 0 by their error.
        most: losses, moved away from 0 by their error.
        log_masses: log probabilities of the noise.
    """

    table: SkellamTable
    least: FloatArray
    most: FloatArray
    log_masses: FloatArray


@dataclass(frozen=True)
class SkellamRenyi:
    """Rényi divergences D_a of Skellam noise of variance μ and its shift by k.

    Attributes:
        variance: μ.
        shift: k ≥ 1.
    """

    variance: float
    shift: int

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a of the noise and its shift, the same in both directions.

        Args:
            order: order a > 1.
        """
        excess = order - 1.0
        moment = self.log_moment(excess)
        upper = min(moment.upper / excess * _ROUNDED, self._closed_bound(excess))
        return Interval(min(moment.lower / excess / _ROUNDED, upper), upper)

    @cached_property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a.

        K = (a − 1) D_a is convex, so it is below its chords. Beyond the last order a closed form bounds its quotient
        with a (a − 1).
        """
        ratio = _RATIO if skellam_table(self.variance).reach <= _MANY else _COARSE_RATIO
        t, moment = _FIRST, self.log_moment(_FIRST).upper
        if math.isinf(moment):
            return self._rho_in_closed_form()
        largest = moment / _FIRST
        while self._quotient_from(t) > largest * _CLOSE:
            next_t, next_moment = t * ratio, self.log_moment(t * ratio).upper
            if math.isinf(next_moment):
                break
            largest = max(largest, largest_quotient((1.0 + t, moment), (1.0 + next_t, next_moment)))
            t, moment = next_t, next_moment
        largest = max(largest, self._quotient_from(t))
        return min(largest * (1.0 + 1e-9), self._rho_in_closed_form())

    @property
    def _limit(self) -> float:
        """k²/2μ."""
        return 0.5 * self.shift * (self.shift / self.variance)

    def _rho_in_closed_form(self) -> float:
        """Return a ρ with D_a ≤ ρ a at every order a > 1 from the closed forms only.

        With t = a − 1 and t' = max(t, s), D_a ≤ k²/2μ (t' + 2) + log 2/t'. Divided by a, this is largest at t = 0.
        """
        s = math.sqrt(math.log(2.0) / self._limit)
        at_zero = (self._limit * (s + 2.0) + math.log(2.0) / s) * _ROUNDED
        # The sum at t = 1 bounds D_2, and the quotient of `_quotient_from` at t = 1.
        return min(at_zero, sum(self._closed_parts(1.0)))

    def _quotient_from(self, excess: float) -> float:
        """Return an upper bound on K/(a (a − 1)) at all orders from a given one on, with K = (a − 1) D_a.

        D_a is the Rényi divergence of the noise and its shift by k. With v cosh v = tk/μ and A(v) = v² cosh v − v sinh
        v + cosh v − 1, K ≤ μ A + kv + log 2. The quotients A/t² and v/t fall in t.

        Args:
            excess: t = a − 1 of the first order.
        """
        area, rest = self._closed_parts(excess)
        product = excess * (excess + 1.0)  # a (a − 1)
        constant = math.log(2.0) / self._limit
        quadratic = self._limit * (1.0 + (excess + constant) / product) * _ROUNDED
        return min(quadratic, area / (excess * excess) + rest / product)

    def _closed_parts(self, excess: float) -> tuple[float, float]:
        """Return upper bounds on μ A(v) and on kv + log 2, which are two parts of a closed bound on K = t D_{t + 1}.

        Args:
            excess: t.
        """
        v = _saddle(excess * self.shift / self.variance)
        area = v * (v * math.cosh(v) - math.sinh(v)) + 2.0 * math.sinh(0.5 * v) ** 2
        return self.variance * area * (1.0 + 1e-8), (self.shift * v + math.log(2.0)) * (1.0 + 1e-8)

    def _closed_bound(self, excess: float) -> float:
        """Return a bound in closed form on the Rényi divergence D_a of the noise and its shift.

        It is the smaller one of two: a quadratic bound at the best order from a on, and one for large orders.

        Args:
            excess: t = a − 1.
        """
        k, variance = float(self.shift), self.variance
        t = max(excess, math.sqrt(math.log(2.0) / self._limit))
        quadratic = (self._limit * (t + 2.0) + math.log(2.0) / t) * _ROUNDED
        v = _saddle(excess * k / variance)
        slope = v + (k / variance) / math.cosh(v) - math.tanh(v)
        tilted = k * slope + (2.0 * variance * math.sinh(0.5 * v) ** 2 + math.log(2.0)) / excess
        return min(quadratic, tilted * (1.0 + 1e-9))

    def log_moment(self, excess: float) -> Interval:
        """Return bounds on K = log E[e^{tL}] of the privacy loss L.

        K is t D_a, for the Rényi divergence D_a of order a = 1 + t. The upper bound is math.inf if the table of
        outcomes would be too large.

        Args:
            excess: t > 0.

        Returns:
            Lower and upper bound on K.
        """
        listed = self._outcomes(excess)
        if listed is None:
            return Interval(self._largest_term(excess), math.inf)
        largest_loss = float(np.max(np.abs(listed.most)))
        largest_exponent = max(excess, 1.0) * largest_loss
        if largest_exponent > _LARGEST_EXPONENT:
            return self._log_moment_by_logarithms(listed, excess)
        # e^K − 1 as a sum of positive terms, which its exponentials do not overflow.
        least_sum, least_error = _positive_sum(listed.least, listed.log_masses, excess)
        largest_sum, largest_error = _positive_sum(listed.most, listed.log_masses, excess)
        relative = 8.0 * listed.table.error + 64 * UNIT_ROUNDOFF * (1.0 + largest_exponent)
        # Above the listed outcomes, the shifted noise has the mass of the noise above R − k.
        log_right = log_tail(listed.table, listed.table.reach - self.shift + 1)
        unlisted = math.exp(self._log_left(listed.table, excess)) + excess * math.exp(log_right)
        least = max(least_sum * (1.0 - relative) - least_error, 0.0)
        largest = (largest_sum * (1.0 + relative) + largest_error + unlisted) * _ROUNDED
        return Interval(math.log1p(least), math.log1p(largest))

    def _largest_term(self, excess: float) -> float:
        """Return a lower bound on log E[e^{tL}]: the log of the largest term p e^{tL} in the usual table.

        It is rounded down, and 0 if no term exceeds 1 or the table does not suit the shift.

        Args:
            excess: t.
        """
        reach = skellam_table(self.variance).reach
        if 2 * self.shift > reach:
            return 0.0
        listed = _listed_losses(self.variance, self.shift, reach)
        largest = float(np.max(listed.log_masses + excess * listed.least))
        size = _LARGEST_FALL + excess * float(np.max(np.abs(listed.most)))
        return max(largest - 4.0 * listed.table.error - 16 * UNIT_ROUNDOFF * size, 0.0)

    def _log_moment_by_logarithms(self, listed: _Listed, excess: float) -> Interval:
        """Return bounds on K = log E[e^{tL}], the log of a sum of terms p e^{tL} that may overflow.

        Above the listed outcomes, losses are negative and terms below p.

        Args:
            listed: losses and log probabilities of the listed outcomes.
            excess: t.
        """
        lower = float(np.logaddexp.reduce(listed.log_masses + excess * listed.least))
        log_listed = float(np.logaddexp.reduce(listed.log_masses + excess * listed.most))
        log_left, log_right = self._log_left(listed.table, excess), listed.table.log_beyond
        upper = float(np.logaddexp.reduce([log_listed, log_left, log_right]))
        size = float(np.max(np.abs(listed.log_masses))) + excess * float(np.max(np.abs(listed.most)))
        slack = 4.0 * listed.table.error + 16 * UNIT_ROUNDOFF * (size + listed.least.size)
        return Interval(max(lower - slack, 0.0), upper + slack)

    def _outcomes(self, excess: float) -> _Listed | None:
        """Return the outcomes of the noise that matter for E[e^{tL}]: beyond them the terms are a negligible series.

        Args:
            excess: t.

        Returns:
            The outcomes; None if there would be too many.
        """
        usual_reach = skellam_table(self.variance).reach
        reach, largest_reach = max(usual_reach, 4 * self.shift), max(usual_reach, MOST_LISTED)
        while reach <= largest_reach:
            converges = self._log_series_quotient(reach - self.shift, excess) <= _LARGEST_QUOTIENT
            if converges:
                listed = _listed_losses(self.variance, self.shift, reach)
                log_largest_term = float(np.max(listed.log_masses + excess * listed.least))
                if self._log_left(listed.table, excess) <= max(log_largest_term, 0.0) + _NEGLIGIBLE:
                    return listed
            reach *= 2
        return None

    def _log_series_quotient(self, n: int, excess: float) -> float:
        """Return log q(n), a bound on the log quotient of neighbouring terms p e^{tL} of E[e^{tL}] at the outcome −n.

        Args:
            n: n ≥ 0.
            excess: t.
        """
        near, far = math.asinh(n / self.variance), math.asinh((n + self.shift + 1.0) / self.variance)
        return -near + excess * (far - near)

    def _log_left(self, table: SkellamTable, excess: float) -> float:
        """Return an upper bound on the log of the sum of p e^{tL} over the outcomes below the listed ones.

        The terms are below a geometric series.

        Here L is the privacy loss and p the probability of an outcome.

        Args:
            table: the noise.
            excess: t.

        Returns:
            The logarithm of the sum of that series, rounded up.
        """
        n = table.reach - self.shift  # −n is the least listed outcome
        loss = float(table.falls[table.reach] - table.falls[n]) + table.error
        log_term = table.log_at_zero - float(table.falls[n]) + 2.0 * table.error + excess * loss
        log_quotient = self._log_series_quotient(n, excess) * (1.0 - 1e-9)
        return log_term + log_quotient - math.log(-math.expm1(log_quotient)) + 1e-9 * (1.0 + abs(log_term))


@dataclass(frozen=True)
class SkellamVectorRenyi:
    """Rényi divergences of independent Skellam noise on several coordinates and its shift by an integer vector.

    The divergences of the coordinates add up. That of a shift by k ≤ K is at most c k², with c the largest quotient of
    a divergence and k².

    Attributes:
        variance: μ.
        largest: K, the largest coordinate of a shift, at least 1.
        square: bound on the squared ℓ2 norm of a shift.
    """

    variance: float
    largest: int
    square: int

    @cached_property
    def _shifts(self) -> list[SkellamRenyi]:
        """The shifts of one coordinate."""
        return [SkellamRenyi(self.variance, shift) for shift in range(1, self.largest + 1)]

    @cached_property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a."""
        return max(single.rho / single.shift**2 for single in self._shifts) * self.square * _ROUNDED

    def divergence(self, order: float) -> Interval:
        """Return an upper bound on the Rényi divergence of order a in both directions, and 0 as a lower bound.

        Args:
            order: order a > 1.
        """
        ratios = [single.divergence(order).upper / single.shift**2 for single in self._shifts]
        return Interval(0.0, max(ratios) * self.square * _ROUNDED)


def _saddle(ratio: float) -> float:
    """Return v with v cosh v equal to a ratio within 1e-9 of itself, by bisection.

    v cosh v increases in v ≥ 0, so that the interval with the solution can be halved.

    Args:
        ratio: the ratio tk/μ ≥ 0, for the shift k and the variance μ of the noise.

    Returns:
        The upper end of the last interval.
    """
    low, high = 0.0, min(ratio, math.asinh(ratio) + 1.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if middle * math.cosh(middle) < ratio:
            low = middle
        else:
            high = middle
    return high


def _positive_sum(losses: FloatArray, log_masses: FloatArray, excess: float) -> tuple[float, float]:
    """Return the part of e^K − 1 from listed losses, and a bound on its error by cancellation.

    K = log E[e^{tL}], and E[e^{−L}] = 1. So e^K − 1 = E[(e^{tL} − 1) + t (e^{−L} − 1)]. No summand is negative.

    Args:
        losses: losses L.
        log_masses: log probabilities.
        excess: t.

    Returns:
        The sum, at least 0, and a bound on its absolute error.
    """
    masses = np.exp(log_masses)
    moment_terms, balance_terms = masses * np.expm1(excess * losses), excess * masses * np.expm1(-losses)
    cancellation = 16 * UNIT_ROUNDOFF * float(np.sum(np.abs(moment_terms) + np.abs(balance_terms)))
    return max(float(np.sum(moment_terms + balance_terms)), 0.0), cancellation


@lru_cache(maxsize=8)
def _listed_losses(variance: float, shift: int, reach: int) -> _Listed:
    """Return the losses and log probabilities of Skellam noise against its shift, for the outcomes from k − R to R.

    Args:
        variance: μ.
        shift: k.
        reach: R, at least that of the usual table.
    """
    table = skellam_table(variance, reach)
    outcomes = np.arange(float(shift - reach), reach + 1.0)
    losses = table.losses(outcomes, shift)
    least = np.sign(losses) * np.maximum(np.abs(losses) - table.error, 0.0)
    log_masses = table.log_at_zero - table.falls[np.abs(outcomes).astype(np.int64)]
    return _Listed(table, least, losses + np.sign(losses) * table.error, log_masses)
