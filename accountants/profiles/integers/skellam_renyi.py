"""The Rényi divergence of Skellam noise of variance μ and its shift by k, at every real order.

Let L be the loss, t = a − 1, and K = t D_a = log E[e^{tL}] under the noise. E[e^{−L}] = 1, so:

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
from functools import cached_property

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.integers.skellam_concentration import largest_quotient
from epsilond.accountants.profiles.integers.skellam_outcomes import ListedOutcomes, listed_losses, positive_sum
from epsilond.accountants.profiles.integers.skellam_table import SkellamTable, log_tail, skellam_table

MOST_LISTED = 2**18
"""Largest R beyond the usual table, which takes a tenth of a second. Larger orders use the closed form."""
_LARGEST_EXPONENT = 600.0
"""Largest exponent [nat] of the sum of positive terms; a sum of logarithms is used beyond it."""
_LARGEST_QUOTIENT = -1e-4
"""Largest logarithm of the quotient of the geometric series that bounds the outcomes that are not listed."""
_NEGLIGIBLE = -40.0
"""Largest logarithm of this series, relative to the largest listed term."""
_FIRST = 1e-3
"""First order minus 1 of the search for ρ."""
_RATIO = 1.05
"""Quotient of neighbouring orders minus 1 in this search."""
_COARSE_RATIO = 1.2
"""The same quotient for a large table."""
_MANY = 2**14
"""Reach of a table from which it is large."""
_LARGEST_FALL = 2000.0
"""Bound on the absolute values of the log probabilities of the usual table."""
_BISECTIONS = 60
"""Number of bisections, after which the interval is as narrow as the distance of two doubles."""
_CLOSE = 1.002
"""Quotient of the closed form and the largest quotient so far at which the search for ρ ends."""
_ROUNDED = 1.0 + 16 * UNIT_ROUNDOFF
"""Factor that covers the rounding errors of a few operations."""


@dataclass(frozen=True)
class SkellamRenyi:
    """The Rényi divergences D_a of Skellam noise of variance μ and its shift by k, at every real order a > 1.

    Skellam noise is the difference of two independent Poisson variables of equal mean. With t = a − 1 and the privacy
    loss L, t D_a is K = log E[e^{tL}], which is a sum over listed outcomes, or bounded in closed form.

    Attributes:
        variance: variance μ of the noise.
        shift: shift k ≥ 1, the sensitivity of the released integer.
    """

    variance: float
    shift: int

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence D_a of the noise and its shift, which is the same in both directions.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bounds, in nats.
        """
        excess = order - 1.0
        moment = self.log_moment(excess)
        # The quotients are rounded outward.
        upper = min(moment.upper / excess * _ROUNDED, self._closed_bound(excess))
        lower = min(moment.lower / excess / _ROUNDED, upper)
        return Interval(lower, upper)

    @cached_property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence D_a of every order a > 1 is at most ρ a.

        K = (a − 1) D_a is convex in a, so it is below its chords. Between two orders of a grid, the chord bounds the
        quotient K/(a (a − 1)) = D_a/a. Beyond the last order a closed form does.
        """
        is_small_table = skellam_table(self.variance).reach <= _MANY
        ratio = _RATIO if is_small_table else _COARSE_RATIO
        t, moment = _FIRST, self.log_moment(_FIRST).upper
        if math.isinf(moment):
            return self._rho_in_closed_form()

        # Raise the order until the closed form is nearly as small as the largest quotient so far.
        largest = moment / _FIRST
        while self._quotient_from(t) > largest * _CLOSE:
            next_t = t * ratio
            next_moment = self.log_moment(next_t).upper
            if math.isinf(next_moment):
                break
            quotient_between = largest_quotient((1.0 + t, moment), (1.0 + next_t, next_moment))
            largest = max(largest, quotient_between)
            t, moment = next_t, next_moment

        largest = max(largest, self._quotient_from(t))
        # Rounded up by more than the error of the quotients.
        rounding = 1.0 + 1e-9
        return min(largest * rounding, self._rho_in_closed_form())

    @property
    def _limit(self) -> float:
        """k²/2μ, the divergence D_1 of a normal distribution of variance μ and its shift by k."""
        return 0.5 * self.shift * (self.shift / self.variance)

    def _rho_in_closed_form(self) -> float:
        """Return a ρ with D_a ≤ ρ a for the Rényi divergence D_a of every order a > 1, by bounds in closed form.

        With t = a − 1, s = √(log 2/(k²/2μ)) and t' = max(t, s), D_a ≤ k²/2μ (t' + 2) + log 2/t'. Divided by a, this is
        largest at t = 0. A second bound is the sum of `_closed_parts` at t = 1.
        """
        s = math.sqrt(math.log(2.0) / self._limit)
        at_zero = (self._limit * (s + 2.0) + math.log(2.0) / s) * _ROUNDED
        # The sum bounds D_2, and so D_a for a ≤ 2. It exceeds `_quotient_from` at t = 1, which bounds D_a/a for a ≥ 2.
        return min(at_zero, sum(self._closed_parts(1.0)))

    def _quotient_from(self, excess: float) -> float:
        """Return an upper bound on D_a/a, for the Rényi divergences D_a of all orders a from a given one on.

        D_a/a is K/(t (t + 1)) for t = a − 1 and K = t D_a. Let v solve v cosh v = tk/μ for the shift k and the variance
        μ. With A(v) = v² cosh v − v sinh v + cosh v − 1, K is at most μ A + kv + log 2. The quotients A/t² and v/t
        decrease in t, so the bound at the first order holds for all larger ones.

        Args:
            excess: t = a − 1 > 0 of the first order.

        Returns:
            The bound, the smaller one of two, rounded up.
        """
        area, rest = self._closed_parts(excess)
        product = excess * (excess + 1.0)  # a (a − 1)
        constant = math.log(2.0) / self._limit
        quadratic = self._limit * (1.0 + (excess + constant) / product) * _ROUNDED
        return min(quadratic, area / (excess * excess) + rest / product)

    def _closed_parts(self, excess: float) -> tuple[float, float]:
        """Return two terms with a sum of at least K = t D_a, for the Rényi divergence D_a of order a = 1 + t.

        With the shift k and the variance μ of the noise, and v cosh v = tk/μ, the terms are μ A(v) and kv + log 2.
        Here `area` is A(v) = v² cosh v − v sinh v + cosh v − 1.

        Args:
            excess: t > 0, the order minus 1.

        Returns:
            The two bounds, each rounded up.
        """
        v = _saddle(excess * self.shift / self.variance)
        area = v * (v * math.cosh(v) - math.sinh(v)) + 2.0 * math.sinh(0.5 * v) ** 2
        # Rounded up: the root v is within 1e-9 of its equation.
        rounding = 1.0 + 1e-8
        return self.variance * area * rounding, (self.shift * v + math.log(2.0)) * rounding

    def _closed_bound(self, excess: float) -> float:
        """Return an upper bound in closed form on the Rényi divergence D_a of Skellam noise and its shift by k.

        With t = a − 1, the variance μ, `_limit` = k²/2μ, s = √(log 2/(k²/2μ)) and t' = max(t, s), one bound is:

            k²/2μ (t' + 2) + log 2/t'.

        The other one suits large orders. With the root v (`_saddle`) of v cosh v = tk/μ it is:

            k (v + (k/μ)/cosh v − tanh v) + (μ (cosh v − 1) + log 2)/t.

        Args:
            excess: t = a − 1 > 0.

        Returns:
            The bound, in nats.
        """
        k, variance = float(self.shift), self.variance
        t = max(excess, math.sqrt(math.log(2.0) / self._limit))
        quadratic = (self._limit * (t + 2.0) + math.log(2.0) / t) * _ROUNDED

        v = _saddle(excess * k / variance)
        slope = v + (k / variance) / math.cosh(v) - math.tanh(v)
        rest = 2.0 * variance * math.sinh(0.5 * v) ** 2 + math.log(2.0)
        for_large_orders = k * slope + rest / excess
        # The factor covers the error of the root v.
        return min(quadratic, for_large_orders * (1.0 + 1e-9))

    def log_moment(self, excess: float) -> Interval:
        """Return bounds on K = log E[e^{tL}] of the privacy loss L of the noise against its shift.

        K is t D_a, for the Rényi divergence D_a of order a = 1 + t.

        Args:
            excess: t > 0.

        Returns:
            Lower and upper bounds on K. The upper bound is math.inf if the table of outcomes would be too large.
        """
        listed = self._outcomes(excess)
        if listed is None:
            return Interval(self._largest_term(excess), math.inf)
        largest_loss = float(np.max(np.abs(listed.most)))
        largest_exponent = max(excess, 1.0) * largest_loss
        if largest_exponent > _LARGEST_EXPONENT:
            return self._log_moment_by_logarithms(listed, excess)

        # e^K − 1 is a sum of positive terms, without overflow here. `least` and `most` are bounds on each loss.
        least_sum, least_error = positive_sum(listed.least, listed.log_masses, excess)
        largest_sum, largest_error = positive_sum(listed.most, listed.log_masses, excess)
        # Errors of the table, of exponentials and of sums.
        relative_error = 8.0 * listed.table.error + 64 * UNIT_ROUNDOFF * (1.0 + largest_exponent)

        # Bound the terms that are not listed. Noise shifted by k is above R = `reach` if it was above R − k.
        log_right = log_tail(listed.table, listed.table.reach - self.shift + 1)
        unlisted = math.exp(self._log_sum_below(listed.table, excess)) + excess * math.exp(log_right)

        least = max(least_sum * (1.0 - relative_error) - least_error, 0.0)
        largest = (largest_sum * (1.0 + relative_error) + largest_error + unlisted) * _ROUNDED
        return Interval(math.log1p(least), math.log1p(largest))

    def _largest_term(self, excess: float) -> float:
        """Return a lower bound on a log moment of the privacy loss: the logarithm of its largest term.

        The moment is E[e^{tL}] of the loss L. A term is p e^{tL} for an outcome of probability p in the usual table.
        The bound is rounded down. It is 0 if no term exceeds 1 or the table is too short for the shift.

        Args:
            excess: t > 0.

        Returns:
            The natural logarithm, at least 0.
        """
        reach = skellam_table(self.variance).reach
        if 2 * self.shift > reach:
            return 0.0
        listed = listed_losses(self.variance, self.shift, reach)
        largest = float(np.max(listed.log_masses + excess * listed.least))
        size = _LARGEST_FALL + excess * float(np.max(np.abs(listed.most)))
        # Rounded down: errors of the table and of the exponents.
        return max(largest - 4.0 * listed.table.error - 16 * UNIT_ROUNDOFF * size, 0.0)

    def _log_moment_by_logarithms(self, listed: ListedOutcomes, excess: float) -> Interval:
        """Return bounds on K = log E[e^{tL}] of the privacy loss L, from the logarithms of terms that may overflow.

        The terms are p e^{tL} for outcomes of probability p. Those of the outcomes from k − R to R are listed, for the
        shift k. Above R losses are negative, so a term is below p there.

        Args:
            listed: losses, as least and largest values, and log probabilities of the listed outcomes.
            excess: t > 0.

        Returns:
            Lower and upper bound on K.
        """
        lower = float(np.logaddexp.reduce(listed.log_masses + excess * listed.least))
        log_listed = float(np.logaddexp.reduce(listed.log_masses + excess * listed.most))
        log_below, log_above = self._log_sum_below(listed.table, excess), listed.table.log_beyond
        upper = float(np.logaddexp.reduce([log_listed, log_below, log_above]))

        # Each term is rounded relative to the size of its exponent, and each sum by a unit for every term.
        size = float(np.max(np.abs(listed.log_masses))) + excess * float(np.max(np.abs(listed.most)))
        slack = 4.0 * listed.table.error + 16 * UNIT_ROUNDOFF * (size + listed.least.size)
        return Interval(max(lower - slack, 0.0), upper + slack)

    def _outcomes(self, excess: float) -> ListedOutcomes | None:
        """Return the outcomes of the noise that matter for E[e^{tL}] of the privacy loss L.

        The list is doubled until a negligible geometric series bounds the terms p e^{tL} of all outcomes below it.

        Args:
            excess: t > 0.

        Returns:
            The outcomes; None if there would be more than `MOST_LISTED` on a side.
        """
        usual_reach = skellam_table(self.variance).reach
        reach, largest_reach = max(usual_reach, 4 * self.shift), max(usual_reach, MOST_LISTED)
        while reach <= largest_reach:
            converges = self._log_series_quotient(reach - self.shift, excess) <= _LARGEST_QUOTIENT
            if converges:
                listed = listed_losses(self.variance, self.shift, reach)
                log_largest_term = float(np.max(listed.log_masses + excess * listed.least))
                if self._log_sum_below(listed.table, excess) <= max(log_largest_term, 0.0) + _NEGLIGIBLE:
                    return listed
            reach *= 2
        return None

    def _log_series_quotient(self, n: int, excess: float) -> float:
        """Return an upper bound on the log quotient of neighbouring terms p e^{tL} of E[e^{tL}] at the outcome −n.

        p is the probability of an outcome and L its privacy loss. The bound is
        t (arsinh((n + k + 1)/μ) − arsinh(n/μ)) − arsinh(n/μ), which decreases in n.

        Args:
            n: n ≥ 0.
            excess: t > 0.

        Returns:
            The natural logarithm of the quotient; the series converges if it is negative.
        """
        near = math.asinh(n / self.variance)
        far = math.asinh((n + self.shift + 1.0) / self.variance)
        return -near + excess * (far - near)

    def _log_sum_below(self, table: SkellamTable, excess: float) -> float:
        """Return an upper bound on the log of the sum of p e^{tL} over the outcomes below −n, the least listed one.

        L is the privacy loss and p the probability of an outcome. The quotients of neighbouring terms are at most the
        quotient q at −n, so a geometric series bounds the sum.

        Args:
            table: differences F(n) = log P(0) − log P(n) of the noise.
            excess: t > 0.

        Returns:
            The natural logarithm of the sum of that series, rounded up.
        """
        # The loss and the term at −n, and the bound on the quotient.
        n = table.reach - self.shift
        loss = float(table.falls[table.reach] - table.falls[n]) + table.error
        log_term = table.log_at_zero - float(table.falls[n]) + 2.0 * table.error + excess * loss
        log_quotient = self._log_series_quotient(n, excess) * (1.0 - 1e-9)  # negative, rounded up

        # The series is the term times q/(1 − q).
        rounding = 1e-9 * (1.0 + abs(log_term))
        return log_term + log_quotient - math.log(-math.expm1(log_quotient)) + rounding


@dataclass(frozen=True)
class SkellamVectorRenyi:
    """Upper bounds on the Rényi divergences of independent Skellam noise on several coordinates and its shift.

    The shift is an integer vector. The divergences of the coordinates add up. Let c be the largest quotient of one
    coordinate's divergence and k², over shifts k ≤ K. The sum is at most c times the squared norm of the vector.

    Attributes:
        variance: variance μ of the noise of each coordinate.
        largest: K, the largest coordinate of a shift, at least 1.
        square: bound on the squared ℓ2 norm of a shift.
    """

    variance: float
    largest: int
    square: int

    @cached_property
    def _shifts(self) -> list[SkellamRenyi]:
        """The divergences of one coordinate, for each shift from 1 to K."""
        return [SkellamRenyi(self.variance, shift) for shift in range(1, self.largest + 1)]

    @cached_property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a."""
        ratios = [coordinate.rho / coordinate.shift**2 for coordinate in self._shifts]
        return max(ratios) * self.square * _ROUNDED  # a shift k adds at most max(ratios) k², and Σ k² ≤ `square`

    def divergence(self, order: float) -> Interval:
        """Return an upper bound on the Rényi divergence of order a in both directions, and 0 as a lower bound.

        Args:
            order: order a > 1.

        Returns:
            The bounds, in nats.
        """
        ratios = [coordinate.divergence(order).upper / coordinate.shift**2 for coordinate in self._shifts]
        return Interval(0.0, max(ratios) * self.square * _ROUNDED)


def _saddle(ratio: float) -> float:
    """Solve v cosh v = r for v ≥ 0 by bisection, with a relative error below 1e-9.

    Args:
        ratio: r = tk/μ ≥ 0, for the shift k and the variance μ of the noise, and the order 1 + t of a divergence.

    Returns:
        The upper end of the last interval.
    """
    # The root is below r and below asinh(r) + 1, because v cosh v is at least v and at least sinh v.
    low, high = 0.0, min(ratio, math.asinh(ratio) + 1.0)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if middle * math.cosh(middle) < ratio:
            low = middle
        else:
            high = middle
    return high
