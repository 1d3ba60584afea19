"""The privacy blanket of one-dimensional Gaussian reports.

A report is N(x, σ²) with |x| ≤ C. In units of σ, c = C/σ: the part common to all reports has density g(w) = φ(|w| + c),
of mass γ = 2Φ(−c). Against opposite contributions, with ρ = e^{2c|w|},

    δ(ε) ≤ (1/n) E[(Y₁ + … + Y_n)₊],   Y = ρ − α for w > 0,  1 − αρ for w < 0,  0 with probability 1 − γ,   α = e^ε.

Opposite contributions are the worst pair, in any dimension (docs/shuffling.md): for every other pair the distribution
of Y is smaller in convex order. In convex order, splitting the mass of a cell between its bounds gives an upper bound,
and moving it to its mean a lower one. The weights do not depend on ε. Y is unbounded. Beyond w = B it is dropped, and
the information of the victim's own report there, at most Φ(c − B) and at most the local δ(ε), is charged. Every B gives
a valid bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.compound_sum import NEGLIGIBLE, CompoundSum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.theorems.shuffling.gaussian_cells import FURTHEST, blanket_cells
from epsilond.accountants.theorems.shuffling.gaussian_terms import BlanketTerms, growth_at
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

_NEAREST, _STEP = 2.0, 0.25
"""Smallest w − c of a cut, and step of the search for cuts."""
_FEW = 80.0
"""Mean number of reports in the blanket up to which no uniform pieces are used."""
_DEEPEST = -745.0
"""log δ below which δ is below every double."""
_FIRST_CUT, _SECOND_CUT = 4.0, 9.5
"""Log ratio of the estimated δ to the charge at the first cut, and at the second, where the charge is negligible."""
_SMALL_CHARGE = 4.4
"""Log ratio of the expected δ to the charge of a cut."""
_ENOUGH = 12.0
"""Log ratio of the expected δ to the error of the compound sum."""
_FAR_ABOVE = 0.3
"""Excess of an estimated log δ over the expected one from which a single report is taken to dominate δ."""
LEAST_BLANKET = 8.0
"""Mean number of clients in the blanket below which the bound is not computed, because it hides too little."""


def log_blanket_mass(noise_multiplier: float) -> float:
    """Return log γ, where γ = 2Φ(−C/σ) is the share of every report that does not depend on its contribution.

    Args:
        noise_multiplier: σ/C, the noise over the largest contribution.

    Returns:
        The natural logarithm of γ, below 0.
    """
    return math.log(2.0) + float(log_ndtr(-1.0 / noise_multiplier))


class NearBound(NamedTuple):
    """An upper bound on log δ at one ε, with estimates for its computation at the next ε.

    Attributes:
        upper: the upper bound on log δ, natural logarithm.
        tilt: exponent λ of the factor e^{λy} with which the density of a sum of n terms Y, one for each report, was
            best bounded. The search at the next ε starts there. None if no sum was evaluated.
        single: whether a single report dominates δ. Then log δ cannot be extrapolated to the next ε.
    """

    upper: float
    tilt: float | None
    single: bool


@dataclass(frozen=True)
class GaussianBlanketBound(ScaledBound):
    """The bound on δ of n shuffled one-dimensional Gaussian reports by their privacy blanket.

    The privacy blanket is the part of a report's distribution that all contributions have in common. A report is N(x,
    σ²) with |x| ≤ C. In units of σ, with c = C/σ, the blanket has the density φ(|w| + c). For opposite contributions,
    with ρ = e^{2c|w|} and α = e^ε, the bound is

        δ(ε) ≤ (1/n) E[(Y₁ + … + Y_n)₊],   Y = ρ − α for w > 0,  1 − αρ for w < 0,  0 without a common part.

    Y is unbounded. It is cut at an edge w = B, and at most Φ(c − B) is charged for the rest. Every B gives a valid
    bound. The bound of a single report is used where it is lower.

    Attributes:
        clients: number n of clients, the victim included.
        noise_multiplier: σ/C, the standard deviation of the noise over the largest contribution.

    Guarantees: the upper bound is at least the exact one and the lower bound at most. They differ by about 1e-3 in log
    δ if no single report dominates δ, and by more beyond. The cost does not depend on n.
    """

    clients: int
    noise_multiplier: float

    @cached_property
    def _terms(self) -> BlanketTerms:
        """Distributions of the term Y of one report in the bound δ ≤ E[(Y₁ + … + Y_n)₊]/n.

        The privacy blanket is the part of a report's distribution that does not depend on the contribution. If more
        than `_FEW` reports are expected in the blanket, the density of Y has uniform pieces on a few intervals. For
        fewer reports the pieces would bound the Laplace transform of the sum too weakly. The sum is then smoothed by a
        Gaussian instead.
        """
        # c = C/σ is rounded up by more than the error of the quotient, which means less noise.
        scaled_norm = 1.0 / self.noise_multiplier * (1.0 + 4 * UNIT_ROUNDOFF)
        log_expected = math.log(self.clients) + log_blanket_mass(self.noise_multiplier)
        cells = blanket_cells(scaled_norm, with_pieces=log_expected > math.log(_FEW))
        return BlanketTerms(cells, scaled_norm)

    def sequential_upper(self) -> Callable[[float], float]:
        """Return `upper` for increasing ε, with the cut and the tilt that the values so far suggest."""
        return _UpperSequence(self)

    def upper_near(self, epsilon: float, local: float, expected: float, tilt: float | None) -> NearBound:
        """Return an upper bound on log δ(ε) of shuffled Gaussian reports, tight if log δ is near an expected value.

        The bound is E[(Y₁ + … + Y_n)₊]/n plus a charge. The distribution of Y is cut off at large values, and the
        charge bounds the effect of the cut on δ. The charge is a small share of the expected δ. Every cut gives a valid
        bound.

        Args:
            epsilon: ε, in nats.
            local: upper bound of log δ without shuffling.
            expected: the expected log δ.
            tilt: best exponential tilt λ of the sum Y₁ + … + Y_n at a smaller ε, to start the search; None if there is
                none.

        Returns:
            The bound. If the sum cannot be positive, so that only the charge remains, it has the given tilt.
        """
        last = self._cut_for(expected)
        charge = min(self._terms.log_charge(last), local)
        distribution = self._terms.distribution(growth_at(epsilon), last, upper=True)
        total = CompoundSum(distribution, self.clients, tilt)
        if total.law.largest_value == 0.0:
            return NearBound(charge, tilt, single=False)
        # If a single report dominates δ, the estimate is far above the expected value.
        log_clients = math.log(self.clients)
        excess = max(total.log_estimate - log_clients - expected, 0.0)
        accuracy = min(_ENOUGH + excess, NEGLIGIBLE)
        main = total.log_positive_part(accuracy).upper - log_clients + 8 * UNIT_ROUNDOFF  # rounded up
        upper = min(local, float(np.logaddexp(main, charge)))
        return NearBound(upper, total.tilt, single=excess > _FAR_ABOVE)

    def local_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of a single report, which is the guarantee without shuffling.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of δ.
        """
        return gaussian_pair(2.0 * self._terms.scaled_norm).log_delta_bounds(epsilon)

    def _cut_for(self, log_delta: float) -> int:
        """Return the index of an edge B at which the effect of cutting off the noise is a small share of a given δ.

        The effect is at most the charge Φ(c − B), where c is the bound on a contribution. All are in standard
        deviations of the noise.

        Args:
            log_delta: natural logarithm of δ. The log of the charge is about `_SMALL_CHARGE` below it.

        Returns:
            Index into the edges of the cells.
        """
        distance = -float(ndtri_exp(min(log_delta, 0.0) - _SMALL_CHARGE))
        return self._terms.find_edge(min(max(distance, _NEAREST), FURTHEST))

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the privacy blanket bound on shuffled Gaussian reports.

        The bound is E[(Y₁ + … + Y_n)₊]/n, where Y is the term of one report. The distribution of Y is cut off at large
        noise, and a charge bounds the effect on δ. The better one of two cuts is used. The charge for the nearer cut is
        a small share of δ, and that for the further one is negligible. The result is at most the δ of a single report.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of the bound on δ(ε).
        """
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local
        # Two cuts of the noise, each with a lower and an upper bound.
        growth = growth_at(epsilon)
        first_distance = self._first_distance(growth)
        second_distance = self._second_distance(growth, first_distance)
        cuts = {self._terms.find_edge(first_distance), self._terms.find_edge(second_distance)}
        upper = min(local.upper, *(self._upper_at(growth, last, local.upper) for last in cuts))
        lower = max(self._lower_at(growth, last) for last in cuts)
        return Interval(min(lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) of shuffled Gaussian reports that is cheaper than `log_bound`.

        The distribution of a report's term Y is cut off at one point, and not at two.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound, at most that of a single report.
        """
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local.upper
        growth = growth_at(epsilon)
        last = self._terms.find_edge(self._first_distance(growth))
        return min(local.upper, self._upper_at(growth, last, local.upper))

    def _upper_at(self, growth: float, last: int, local: float) -> float:
        """Return an upper bound on log δ, the log of (1/n) E[(Y₁ + … + Y_n)₊] plus a charge.

        Y is the term of one report. Its distribution is cut off where the noise w exceeds B, and the charge bounds the
        effect of the cut on δ.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B.
            local: upper bound on log δ without shuffling, which limits the charge for the cut.

        Returns:
            The natural logarithm of the bound.
        """
        total = CompoundSum(self._terms.distribution(growth, last, upper=True), self.clients)
        main = total.log_positive_part().upper - math.log(self.clients) + 8 * UNIT_ROUNDOFF  # rounded up
        charge = min(self._terms.log_charge(last), local)
        return float(np.logaddexp(main, charge))

    def _lower_at(self, growth: float, last: int) -> float:
        """Return a lower bound on the log of the privacy blanket bound (1/n) E[(Y₁ + … + Y_n)₊].

        Y is the term of one report. Its distribution is cut off where the noise w exceeds B.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B.

        Returns:
            The natural logarithm of the lower bound.
        """
        total = CompoundSum(self._terms.distribution(growth, last, upper=False), self.clients)
        return total.log_positive_part().lower - math.log(self.clients)

    def _first_distance(self, growth: float) -> float:
        """Find by bisection how far beyond the largest contribution the noise may be cut off at a small cost in δ.

        The cut is at the noise w = B, and c is the bound on a contribution. Its cost, the charge Φ(c − B), is a small
        share of δ at the distance B − c.

        Args:
            growth: α − 1 = e^ε − 1.

        Returns:
            A distance between `_NEAREST` and `FURTHEST`, in standard deviations of the noise.
        """
        # At `far` the charge is small enough. Bisect until both distances are close.
        near, far = _NEAREST, FURTHEST
        while far - near > _STEP:
            middle = 0.5 * (near + far)
            last = self._terms.find_edge(middle)
            largest_charge = self._estimate(growth, last) - _FIRST_CUT
            if self._terms.log_charge(last) < largest_charge:
                far = middle
            else:
                near = middle
        return far

    def _second_distance(self, growth: float, first_distance: float) -> float:
        """Find how far beyond the largest contribution the noise may be cut off at a negligible cost in δ.

        The cut is at the noise w = B, and c is the bound on a contribution. Its cost is the charge Φ(c − B). The search
        increases the distance B − c in equal steps.

        Args:
            growth: α − 1 = e^ε − 1.
            first_distance: result of `_first_distance`, at which the charge is a small share of δ.

        Returns:
            A distance of at least `first_distance`, in standard deviations of the noise.
        """
        largest_charge = self._estimate(growth, self._terms.find_edge(first_distance)) - _SECOND_CUT
        distance = first_distance
        while distance < FURTHEST and self._terms.log_charge(self._terms.find_edge(distance)) > largest_charge:
            distance += _STEP
        return distance

    def _estimate(self, growth: float, last: int) -> float:
        """Estimate log δ of the privacy blanket bound by a saddle-point approximation.

        The distribution of the term Y of a report is cut off, and the charge for the cut is not included.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge at which Y is cut.

        Returns:
            The estimate; −∞ if no value of Y is positive.
        """
        total = CompoundSum(self._terms.approximate_distribution(growth, last), self.clients)
        if total.law.largest_value <= 0.0:
            return -math.inf
        return total.log_estimate - math.log(self.clients)


@dataclass
class _UpperSequence:
    """Upper bounds on log δ of shuffled Gaussian reports at increasing ε, each search starting from the previous one.

    δ comes from the expected positive part of a sum of terms Y, one for each report. A bound depends on a cut, which
    limits Y, and on a tilt z, the exponent of a weight e^{zY}. Every choice is valid, so good ones are taken from the
    previous ε. Once a single report dominates δ, log δ cannot be extrapolated, and each bound is computed separately.

    Attributes:
        bound: the bound that is evaluated.
        values: ε and upper bound of log δ of the previous calls, in their order.
        tilt: tilt of the sum Y₁ + … + Y_n at the previous ε; None before the first sum.
        single: whether a single report dominated δ at the previous ε.
    """

    bound: GaussianBlanketBound
    values: list[tuple[float, float]] = field(default_factory=list)
    tilt: float | None = None
    single: bool = False

    def __call__(self, epsilon: float) -> float:
        """Return an upper bound on log δ at an ε, and remember both for the next call.

        Args:
            epsilon: ε in nats, above those of the previous calls.

        Returns:
            The natural logarithm of the bound.
        """
        upper = self._evaluate(epsilon)
        self.values.append((epsilon, upper))
        return upper

    def _evaluate(self, epsilon: float) -> float:
        """Return an upper bound on log δ from the suggested cut, or from a search for the best cut if it is smaller.

        The first two bounds, and all bounds after a single report dominated δ, are from the search.

        Args:
            epsilon: ε in nats, above those of the previous calls.

        Returns:
            The natural logarithm of the bound.
        """
        if self.single or len(self.values) < 2:  # two values are needed for an extrapolation
            return self.bound.upper(epsilon)
        local = self.bound.local_bounds(epsilon).upper
        if local < _DEEPEST:
            return local
        expected = min(_extrapolate(self.values, epsilon), local)
        upper, self.tilt, self.single = self.bound.upper_near(epsilon, local, expected, self.tilt)
        if self.single:
            return self.bound.upper(epsilon)
        if upper > expected:
            # The suggested cut is worse than expected, so a search may find a better one.
            return min(upper, self.bound.upper(epsilon))
        return upper


def _extrapolate(values: list[tuple[float, float]], epsilon: float) -> float:
    """Extrapolate log δ to ε on the line through the last two points, or on a level line if this one increases.

    Args:
        values: at least two points (ε, log δ), in increasing ε.
        epsilon: ε above the ε of the points, in nats.

    Returns:
        The extrapolated log δ, at most that of the last point.
    """
    (epsilon_before, log_delta_before), (epsilon_last, log_delta_last) = values[-2:]
    change = min(log_delta_last - log_delta_before, 0.0)
    return log_delta_last + change * (epsilon - epsilon_last) / (epsilon_last - epsilon_before)
