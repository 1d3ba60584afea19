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
from scipy.special import log_ndtr, ndtr, ndtri_exp

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.compound_sum import NEGLIGIBLE, CompoundSum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.step_law import Pieces, StepLaw, WeightedPoints
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.theorems.shuffling.gaussian_cells import FURTHEST, LUMP, Cells, ExcessMasses, blanket_cells
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

_NEAREST, _STEP = 2.0, 0.25
"""Smallest w − c of a cut, and step of the search for cuts."""
_FEW = 80.0
"""Mean number of reports in the blanket up to which no uniform pieces are used."""
_DEEPEST = -745.0
"""log δ below which δ is below every double."""
_FIRST_CUT, _SECOND_CUT = 4.0, 9.5
"""Log ratio of the estimated δ to the charge at the first cut, and at the second, where the charge is negligible."""
_LARGEST_EPSILON = 600.0
"""Largest ε, in nats, at which α = e^ε is computed. Beyond it, the upper bound at this ε is valid: δ decreases."""
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
    """
    return math.log(2.0) + float(log_ndtr(-1.0 / noise_multiplier))


def _growth(epsilon: float) -> float:
    """Return α − 1 = e^ε − 1."""
    return math.expm1(min(epsilon, _LARGEST_EPSILON))


def _negative_value(excess: FloatArray, growth: float) -> FloatArray:
    """Return 1 − αρ, the value of Y for w < 0, without cancellation, for the excess ρ − 1 and growth = α − 1."""
    return -(excess + growth + growth * excess)


class NearBound(NamedTuple):
    """An upper bound on log δ at one ε, with estimates for its computation at the next ε.

    Attributes:
        upper: the bound.
        tilt: exponential tilt λ that suits the sum Y₁ + … + Y_n of `GaussianBlanketBound`; the search at the next ε
            starts there. None if no sum was evaluated.
        single: whether a single report dominates δ. Then log δ cannot be extrapolated to the next ε.
    """

    upper: float
    tilt: float | None
    single: bool


@dataclass(frozen=True)
class GaussianBlanketBound(ScaledBound):
    """The bound by the privacy blanket for n shuffled one-dimensional Gaussian reports; at most the local bound.

    A report is N(x, σ²) with |x| ≤ C. In units of σ, with c = C/σ, all reports have the density φ(|w| + c) in common.
    For opposite contributions, with ρ = e^{2c|w|} and α = e^ε, the bound is

        δ(ε) ≤ (1/n) E[(Y₁ + … + Y_n)₊],   Y = ρ − α for w > 0,  1 − αρ for w < 0,  0 without a common part.

    Y is unbounded. It is cut at an edge w = B, and at most Φ(c − B) is charged for the rest. Every B gives a valid
    bound.

    Attributes:
        clients: number n of clients, the victim included.
        noise_multiplier: σ/C.

    Guarantees: the upper bound is at least the exact one and the lower bound at most. They differ by about 1e-3 in log
    δ if no single report dominates δ, and by more beyond. The cost does not depend on n.
    """

    clients: int
    noise_multiplier: float

    @cached_property
    def _scaled_norm(self) -> float:
        """c = C/σ, the largest norm of a contribution in units of the noise; rounded up, which means less noise."""
        return 1.0 / self.noise_multiplier * (1.0 + 4 * UNIT_ROUNDOFF)

    @cached_property
    def _cells(self) -> Cells:
        """Cells of w, with uniform pieces if more than `_FEW` reports are expected in the blanket.

        For fewer reports the pieces would bound the transform of the sum too weakly. The sum is then smoothed by a
        Gaussian instead.
        """
        log_expected = math.log(self.clients) + log_blanket_mass(self.noise_multiplier)
        return blanket_cells(self._scaled_norm, with_pieces=log_expected > math.log(_FEW))

    def _distribution(self, growth: float, last: int, *, upper: bool) -> StepLaw:
        """Return a distribution of Y, cut at an edge B, for a one-sided bound on δ = E[(Y₁ + … + Y_n)₊]/n.

        With ρ of `GaussianBlanketBound` and α = e^ε, a mass at excess x = ρ − 1 gives two atoms of Y: ρ − α for w > 0,
        and 1 − αρ for w < 0. Of the mass beyond B only the atom for w < 0 is kept.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B, the last edge of the cells that are used.
            upper: whether the mass of a cell is split between its edges, for an upper bound. Otherwise it is moved to
                its mean, for a lower bound.
        """
        masses = self._split_masses(last) if upper else self._mean_masses(last)
        positive = masses.excess - growth  # ρ − α
        negative = _negative_value(np.append(masses.excess, masses.excess_beyond), growth)
        magnitudes = np.concatenate((masses.excess + growth, -negative))
        magnitudes[-1] *= 2.0  # for the mass beyond B
        roundoff = UNIT_ROUNDOFF * (4.0 + 8.0 * self._scaled_norm * float(self._cells.edges[last]))
        mass_beyond = self._mass_beyond(last)
        atoms = WeightedPoints(
            points=np.concatenate((positive, negative)),
            weights=np.concatenate((masses.weights, masses.weights, [mass_beyond])),
            point_errors=roundoff * magnitudes,
            weight_errors=np.concatenate((masses.errors, masses.errors, [1e-14 * mass_beyond])),
        )
        return StepLaw(atoms, self._pieces(growth))

    def _split_masses(self, last: int) -> ExcessMasses:
        """Return the masses of the cells below the edge `last`, split between their edges, for upper bounds on δ."""
        cells = self._cells
        excess, errors = cells.edge_excess[: last + 1], cells.errors[:last]
        # An edge has mass from the cell above it, moved down, and from the cell below it, moved up.
        weights = np.append(cells.to_low[:last], 0.0) + np.append(0.0, cells.to_high[:last])
        edge_errors = np.append(errors, 0.0) + np.append(0.0, errors)
        return ExcessMasses(excess=excess, weights=weights, errors=edge_errors, excess_beyond=float(excess[-1]))

    def _mean_masses(self, last: int) -> ExcessMasses:
        """Return masses of the blanket in cells below the edge `last`, each at its mean, for lower bounds on δ."""
        cells, c = self._cells, self._scaled_norm
        excess = cells.mean_excess[:last]
        excess_beyond = float(excess[-1])
        mass_beyond = self._mass_beyond(last)
        if mass_beyond > 0.0:
            # The mean of ρ = e^{2cw} beyond B is Φ(c − B)/Φ(−(B + c)).
            excess_beyond = float(ndtr(c - cells.edges[last])) / mass_beyond - 1.0
        return ExcessMasses(
            excess=excess,
            weights=cells.to_low[:last] + cells.to_high[:last],
            errors=2.0 * cells.errors[:last],
            excess_beyond=excess_beyond,
        )

    def _mass_beyond(self, last: int) -> float:
        """Return the mass Φ(−(B + c)) of the blanket at w > B, for the edge B with index `last`."""
        return float(ndtr(-(self._cells.edges[last] + self._scaled_norm)))

    def _pieces(self, growth: float) -> Pieces:
        """Return the uniform pieces of the distribution of Y.

        A part of the density of the excess x = ρ − 1 is a sum of uniform densities on [0, x_j]. Each gives a piece of Y
        for w > 0, which begins at 1 − α, and one of the same mass for w < 0, which ends there.

        Args:
            growth: α − 1 = e^ε − 1.
        """
        mass, right_end = self._cells.level_mass, self._cells.levels
        at_zero = np.full(right_end.size, -growth)
        return Pieces(
            low=np.concatenate((at_zero, _negative_value(right_end, growth))),
            high=np.concatenate((right_end - growth, at_zero)),
            mass=np.concatenate((mass, mass)),
        )

    def sequential_upper(self) -> Callable[[float], float]:
        """Return `upper` for increasing ε, with the cut and the tilt that the values so far suggest."""
        return _UpperSequence(self)

    def upper_near(self, epsilon: float, local: float, expected: float, tilt: float | None) -> NearBound:
        """Return an upper bound on log δ(ε) that is tight if log δ is near an expected value.

        Y is cut where the charge for the cut, which bounds its effect on δ, is a small share of the expected δ.

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
        charge = min(self._charge(last), local)
        distribution = self._distribution(_growth(epsilon), last, upper=True)
        total = CompoundSum(distribution, self.clients, tilt)
        if total.law.largest_value == 0.0:
            return NearBound(charge, tilt, single=False)
        log_clients = math.log(self.clients)
        # If a single report dominates δ, the estimate is far above the expected value.
        excess = max(total.log_estimate - log_clients - expected, 0.0)
        accuracy = min(_ENOUGH + excess, NEGLIGIBLE)
        main = total.log_positive_part(accuracy).upper - log_clients + 8 * UNIT_ROUNDOFF
        upper = min(local, float(np.logaddexp(main, charge)))
        return NearBound(upper, total.tilt, single=excess > _FAR_ABOVE)

    def local_bounds(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of a single report, the local guarantee."""
        return gaussian_pair(2.0 * self._scaled_norm).log_delta_bounds(epsilon)

    def _cut_for(self, log_delta: float) -> int:
        """Return the index of an edge B with the log of the charge Φ(c − B) about `_SMALL_CHARGE` below `log_delta`."""
        distance = -float(ndtri_exp(min(log_delta, 0.0) - _SMALL_CHARGE))
        return self._find_edge(min(max(distance, _NEAREST), FURTHEST))

    def _sum(self, growth: float, last: int, *, upper: bool = True) -> CompoundSum:
        """Return the sum of n copies of Y, cut at the edge `last`, for growth = α − 1; see `_distribution`."""
        return CompoundSum(self._distribution(growth, last, upper=upper), self.clients)

    def _find_edge(self, distance: float) -> int:
        """Return the index of the first cell edge w with w − c at least `distance`, within the cells."""
        edges = self._cells.edges
        return min(max(int(np.searchsorted(edges, self._scaled_norm + distance)), 8), edges.size - 1)

    def _charge(self, last: int) -> float:
        """Return the log of the charge Φ(c − B) for a cut of Y, rounded up, for the edge B with index `last`."""
        value = float(log_ndtr(self._scaled_norm - self._cells.edges[last]))
        return value + 64 * UNIT_ROUNDOFF * (1.0 + abs(value))

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ of the privacy blanket bound: the best over two cuts of Y, at most that of a single report.

        The charge for the nearer cut is a small share of δ, and that for the further one is negligible.
        """
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local
        growth = _growth(epsilon)
        first = self._first_distance(growth)
        second = self._second_distance(growth, first)
        cuts = {self._find_edge(first), self._find_edge(second)}
        upper = min(local.upper, *(self._upper_at(growth, last, local.upper) for last in cuts))
        lower = max(self._lower_at(growth, last) for last in cuts)
        return Interval(min(lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ from one cut instead of two."""
        local = self.local_bounds(epsilon)
        if local.upper < _DEEPEST:
            return local.upper
        growth = _growth(epsilon)
        last = self._find_edge(self._first_distance(growth))
        return min(local.upper, self._upper_at(growth, last, local.upper))

    def _upper_at(self, growth: float, last: int, local: float) -> float:
        """Return an upper bound on log δ: log of (1/n) E[(Y₁ + … + Y_n)₊] plus a charge, with Y cut at w = B.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B.
            local: upper bound on log δ without shuffling, which limits the charge for the cut.
        """
        main = self._sum(growth, last).log_positive_part().upper - math.log(self.clients) + 8 * UNIT_ROUNDOFF
        return float(np.logaddexp(main, min(self._charge(last), local)))

    def _lower_at(self, growth: float, last: int) -> float:
        """Return a lower bound on the log of the blanket's bound, with Y cut at the edge `last`, for growth = α − 1."""
        return self._sum(growth, last, upper=False).log_positive_part().lower - math.log(self.clients)

    def _first_distance(self, growth: float) -> float:
        """Return a distance B − c of a cut w = B at which the charge Φ(c − B) is a small share of δ, by bisection.

        Args:
            growth: α − 1 = e^ε − 1.
        """
        near, far = _NEAREST, FURTHEST
        while far - near > _STEP:
            middle = 0.5 * (near + far)
            last = self._find_edge(middle)
            if self._charge(last) < self._estimate(growth, last) - _FIRST_CUT:
                far = middle
            else:
                near = middle
        return far

    def _second_distance(self, growth: float, first: float) -> float:
        """Return a distance B − c of a cut w = B at which the charge Φ(c − B) is negligible; at least `first`.

        Args:
            growth: α − 1 = e^ε − 1.
            first: result of `_first_distance`, at which the charge is a small share of δ.
        """
        target = self._estimate(growth, self._find_edge(first)) - _SECOND_CUT
        distance = first
        while distance < FURTHEST and self._charge(self._find_edge(distance)) > target:
            distance += _STEP
        return distance

    def _estimate(self, growth: float, last: int) -> float:
        """Estimate log δ of the privacy blanket bound, without the charge for the cut of Y, by a saddle point.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge at which Y is cut.

        Returns:
            The estimate; −∞ if no value of Y is positive.
        """
        # The mass of `LUMP` neighbouring cells counts at its mean excess.
        count = max(last // LUMP, 2)
        excess, mass = self._cells.lump_excess[:count], self._cells.lump_mass[:count]
        points = np.concatenate((excess - growth, _negative_value(excess, growth)))
        no_errors = np.zeros(points.size)
        atoms = WeightedPoints(
            points=points, weights=np.concatenate((mass, mass)), point_errors=no_errors, weight_errors=no_errors
        )
        total = CompoundSum(StepLaw(atoms), self.clients)
        return total.log_estimate - math.log(self.clients) if total.law.largest_value > 0.0 else -math.inf


@dataclass
class _UpperSequence:
    """Upper bounds of log δ at increasing ε, with a cut and an exponential tilt that the previous values suggest.

    The cut limits the term Y of each report, and the tilt is that of the saddle point of the sum. Every choice gives a
    valid bound. Once a single report dominates δ, log δ cannot be extrapolated, and each bound is computed separately.

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
        """Return an upper bound at an ε above the previous ones."""
        upper = self._evaluate(epsilon)
        self.values.append((epsilon, upper))
        return upper

    def _evaluate(self, epsilon: float) -> float:
        """Return an upper bound on log δ from the suggested cut, or from a search for the best cut if it is smaller."""
        if self.single or len(self.values) < 2:
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
    """
    (epsilon_before, before), (epsilon_last, last) = values[-2:]
    return last + min(last - before, 0.0) * (epsilon - epsilon_last) / (epsilon_last - epsilon_before)
