"""The privacy blanket of one-dimensional Gaussian reports.

A report is N(x, σ²) with |x| ≤ C. In units of σ, c = C/σ: the part common to all reports has density g(w) = φ(|w| + c),
of mass γ = 2Φ(−c). Against opposite contributions, with ρ = e^{2c|w|}:

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
from epsilond.accountants.theorems.shuffling.gaussian_terms import BlanketTerms, compute_alpha_excess
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

_NEAREST, _STEP = 2.0, 0.25
"""Smallest w − c of a cut, and step of the search for cuts."""
_FEW = 80.0
"""Mean number of reports in the blanket up to which no uniform pieces are used."""
_DEEPEST = -745.0
"""log δ below which δ is below every double."""
_FIRST_COST, _SECOND_COST = 4.0, 9.5
"""Log ratio of the estimated δ to the cost of a cut, the δ that is added for it: at the first and the second cut."""
_SMALL_COST = 4.4
"""Log ratio of the expected δ to the cost of a cut."""
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
    """An upper bound on log δ of shuffled reports at one ε, with values from which the search at the next ε starts.

    δ is bounded by E[S₊]/n, where the sum S has a term for each of the n reports (`GaussianBlanketBound`).

    Attributes:
        upper: natural logarithm of the upper bound on δ.
        tilt: exponent λ > 0 of the weight e^{λS} under which the expectation was computed. None if no sum was evaluated
            at this ε or before.
        single_dominates: whether nearly all of δ is due to a large term of one report. Then log δ cannot be
            extrapolated to the next ε.
    """

    upper: float
    tilt: float | None
    single_dominates: bool


@dataclass(frozen=True)
class GaussianBlanketBound(ScaledBound):
    """The bound on δ of n shuffled one-dimensional Gaussian reports by their privacy blanket.

    The privacy blanket is the part of a report's distribution that all contributions have in common. A report is N(x,
    σ²) with |x| ≤ C. In units of σ, with c = C/σ, the blanket has the density φ(|w| + c). For opposite contributions,
    with ρ = e^{2c|w|} and α = e^ε, the bound is:

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
        """Return a function that computes `upper` for increasing ε, each search starting from the previous results."""
        return _UpperSequence(self)

    def upper_near(self, epsilon: float, local: float, expected: float, tilt: float | None) -> NearBound:
        """Return an upper bound on log δ(ε) of shuffled Gaussian reports, tight if log δ is near an expected value.

        The bound is E[(Y₁ + … + Y_n)₊]/n, where Y_i is the term of report i in the privacy blanket bound. Large noise
        is cut off at an edge, and a bound on the effect on δ is added. The edge is chosen so that this is a small share
        of the expected δ. Every edge gives a valid bound.

        Args:
            epsilon: ε, in nats.
            local: upper bound of log δ without shuffling.
            expected: the expected log δ.
            tilt: best exponential tilt λ of the sum Y₁ + … + Y_n at a smaller ε, to start the search; None if there is
                none.

        Returns:
            The bound on log δ, the tilt for the next ε, and whether a single report dominates δ. If no term can be
            positive, only the effect of the cut remains, and the tilt is the given one.
        """
        edge_index = self._cut_for(expected)
        cut_cost = min(self._terms.log_cut_cost(edge_index), local)
        distribution = self._terms.distribution(compute_alpha_excess(epsilon), edge_index, upper=True)
        total = CompoundSum(distribution, self.clients, tilt)
        if total.law.largest_value == 0.0:
            return NearBound(cut_cost, tilt, single_dominates=False)
        # The error of the sum needs to be small only relative to the expected δ. An estimate far above the expected
        # value means that a single report dominates δ.
        log_clients = math.log(self.clients)
        excess = max(total.log_estimate - log_clients - expected, 0.0)
        accuracy = min(_ENOUGH + excess, NEGLIGIBLE)
        main = total.log_positive_part(accuracy).upper - log_clients + 8 * UNIT_ROUNDOFF  # rounded up
        upper = min(local, float(np.logaddexp(main, cut_cost)))
        return NearBound(upper, total.tilt, single_dominates=excess > _FAR_ABOVE)

    def local_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of a single report, which is the guarantee without shuffling.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of δ.
        """
        return gaussian_pair(2.0 * self._terms.scaled_norm).log_delta_bounds(epsilon)

    def _cut_for(self, log_delta: float) -> int:
        """Find an edge B at which the noise may be cut off with an effect that is a small share of a given δ.

        The effect on δ is at most Φ(c − B), where c bounds the absolute value of a contribution. Both c and B are in
        standard deviations of the noise. B is such that log Φ(c − B) is about `_SMALL_COST` below log δ.

        Args:
            log_delta: natural logarithm of δ.

        Returns:
            Index into the edges of the cells.
        """
        distance = -float(ndtri_exp(min(log_delta, 0.0) - _SMALL_COST))
        return self._terms.find_edge(min(max(distance, _NEAREST), FURTHEST))

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the log of the privacy blanket bound on δ(ε) of shuffled Gaussian reports.

        The bound is the smaller of E[(Y₁ + … + Y_n)₊]/n, where Y_i is a function of the noise of report i, and the δ of
        a single report. Noise above an edge is cut off, and a bound on the effect on δ is added. Two edges are tried:
        at the first one this addition is a small share of δ, and at the second one it is negligible.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of the bound on δ(ε).
        """
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local
        # Both cuts give valid bounds. They may be at the same edge.
        alpha_excess = compute_alpha_excess(epsilon)
        first_distance = self._first_distance(alpha_excess)
        second_distance = self._second_distance(alpha_excess, first_distance)
        cuts = {self._terms.find_edge(first_distance), self._terms.find_edge(second_distance)}
        upper = min(local.upper, *(self._upper_at(alpha_excess, edge_index, local.upper) for edge_index in cuts))
        lower = max(self._lower_at(alpha_excess, edge_index) for edge_index in cuts)
        return Interval(min(lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) of shuffled Gaussian reports, at less cost than `log_bound`.

        Large noise is cut off at one point, for which a small share of δ is added. No second cut is tried.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound, at most that of a single report.
        """
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local.upper
        alpha_excess = compute_alpha_excess(epsilon)
        edge_index = self._terms.find_edge(self._first_distance(alpha_excess))
        return min(local.upper, self._upper_at(alpha_excess, edge_index, local.upper))

    def _upper_at(self, alpha_excess: float, edge_index: int, local: float) -> float:
        """Return an upper bound on log δ if the noise of each report is cut off at an edge B.

        δ is at most (1/n) E[(Y₁ + … + Y_n)₊] plus a bound on the effect of the cut on δ. Y is the term of one report
        without noise above B.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            edge_index: index of the edge B.
            local: upper bound on log δ without shuffling, which limits the effect of the cut.

        Returns:
            The natural logarithm of the sum of both parts, rounded up.
        """
        total = CompoundSum(self._terms.distribution(alpha_excess, edge_index, upper=True), self.clients)
        main = total.log_positive_part().upper - math.log(self.clients) + 8 * UNIT_ROUNDOFF  # rounded up
        cut_cost = min(self._terms.log_cut_cost(edge_index), local)
        return float(np.logaddexp(main, cut_cost))

    def _lower_at(self, alpha_excess: float, edge_index: int) -> float:
        """Return a lower bound on the log of the privacy blanket bound (1/n) E[(Y₁ + … + Y_n)₊].

        Y is the term of one report. Its values for noise above an edge B are dropped.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            edge_index: index of the edge B.

        Returns:
            The lower bound; −∞ if none was obtained.
        """
        total = CompoundSum(self._terms.distribution(alpha_excess, edge_index, upper=False), self.clients)
        return total.log_positive_part().lower - math.log(self.clients)

    def _first_distance(self, alpha_excess: float) -> float:
        """Find by bisection how far beyond the largest contribution the noise may be cut off with a small effect on δ.

        If noise above B is cut off, at most Φ(c − B) is added to δ, where c bounds the absolute value of a
        contribution and Φ is the normal distribution function. At the distance B − c that is returned, this cost is
        about e^−4 of the estimated δ.

        Args:
            alpha_excess: α − 1 = e^ε − 1.

        Returns:
            A distance between `_NEAREST` and `FURTHEST`, in standard deviations of the noise.
        """
        # The cost is small enough at `far`, or `far` is the largest distance. All values are logarithms.
        near, far = _NEAREST, FURTHEST
        while far - near > _STEP:
            middle = 0.5 * (near + far)
            edge_index = self._terms.find_edge(middle)
            largest_cost = self._estimate(alpha_excess, edge_index) - _FIRST_COST
            if self._terms.log_cut_cost(edge_index) < largest_cost:
                far = middle
            else:
                near = middle
        return far

    def _second_distance(self, alpha_excess: float, first_distance: float) -> float:
        """Find how far beyond the largest contribution the noise may be cut off with a negligible effect on δ.

        If noise above B is cut off, at most Φ(c − B) is added to δ, where c bounds the absolute value of a
        contribution. The search increases the distance B − c in equal steps, up to about `FURTHEST`, until this cost is
        at most e^−9.5 of the estimated δ.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            first_distance: result of `_first_distance`, at which the cost is a small share of δ.

        Returns:
            A distance of at least `first_distance`, in standard deviations of the noise.
        """
        largest_cost = self._estimate(alpha_excess, self._terms.find_edge(first_distance)) - _SECOND_COST
        distance = first_distance
        while distance < FURTHEST and self._terms.log_cut_cost(self._terms.find_edge(distance)) > largest_cost:
            distance += _STEP
        return distance

    def _estimate(self, alpha_excess: float, edge_index: int) -> float:
        """Estimate log E[(Y₁ + … + Y_n)₊]/n, the privacy blanket bound, by a saddle-point approximation.

        Y_i is the term of report i. Its noise is cut off at an edge. The effect of the cut on δ is not included.

        Args:
            alpha_excess: α − 1 = e^ε − 1.
            edge_index: index of the edge.

        Returns:
            The estimate; −∞ if no term can be positive.
        """
        total = CompoundSum(self._terms.approximate_distribution(alpha_excess, edge_index), self.clients)
        if total.law.largest_value <= 0.0:
            return -math.inf
        return total.log_estimate - math.log(self.clients)


@dataclass
class _UpperSequence:
    """Upper bounds on log δ of shuffled Gaussian reports at increasing ε, each search starting from the previous one.

    The bound is the expected positive part of a sum S of terms, one for each report. Two choices affect only its
    tightness: the edge at which large noise is cut off, and the exponent λ (tilt) of a weight e^{λS}. Both are taken
    from the previous ε. Once a single report dominates δ, each bound is computed separately.

    Attributes:
        bound: the bound that is evaluated.
        values: ε and upper bound on log δ of each previous call, in increasing ε.
        tilt: tilt of the last sum that was evaluated; None before the first sum.
        single_dominates: whether a single report dominated δ at the previous ε.
    """

    bound: GaussianBlanketBound
    values: list[tuple[float, float]] = field(default_factory=list)
    tilt: float | None = None
    single_dominates: bool = False

    def __call__(self, epsilon: float) -> float:
        """Return an upper bound on log δ at an ε, and store both as a start of the next search.

        Args:
            epsilon: ε in nats, above those of the previous calls.

        Returns:
            The natural logarithm of the bound.
        """
        upper = self._evaluate(epsilon)
        self.values.append((epsilon, upper))
        return upper

    def _evaluate(self, epsilon: float) -> float:
        """Return an upper bound on log δ, if possible with the cut of the noise that an extrapolation suggests.

        A search for a better cut is made if the bound exceeds the extrapolated value. The first two bounds, and all
        bounds after a single report dominated δ, are from this search too.

        Args:
            epsilon: ε in nats, above those of the previous calls.

        Returns:
            The natural logarithm of the bound.
        """
        if self.single_dominates or len(self.values) < 2:  # two values are needed for an extrapolation
            return self.bound.upper(epsilon)
        local = self.bound.local_bounds(epsilon).upper
        if local < _DEEPEST:
            return local
        expected = min(_extrapolate(self.values, epsilon), local)
        upper, self.tilt, self.single_dominates = self.bound.upper_near(epsilon, local, expected, self.tilt)
        if self.single_dominates:
            return self.bound.upper(epsilon)
        if upper > expected:
            # The suggested cut is worse than expected. Both bounds are valid.
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
