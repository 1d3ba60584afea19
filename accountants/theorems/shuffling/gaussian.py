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
from epsilond.accountants.numerics.compound_sum import NEGLIGIBLE, CompoundSum, LogEnds, Pieces, StepLaw, WeightedPlaces
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.numerics.special import FloatArray

_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(8)
_SPACING, _FURTHEST, _LEVELS, _LUMP = 0.02, 37.5, 6, 8
"""Spacing of cells in w, largest w − c, number of uniform pieces, and cells per lump of an estimate."""
_LARGEST_LOG_RATIO, _LEAST_MASS = 690.0, 1e-300
"""Largest log ρ of a cell and least mass of a lump, for which ρ and the quotients by the mass are finite doubles."""
_NEAREST, _STEP, _FEW, _DEEPEST = 2.0, 0.25, 80.0, -745.0
"""Nearest cut, step of the search for cuts, reports in the blanket below which no pieces are used, and least log δ."""
_FIRST_CUT, _SECOND_CUT = 4.0, 9.5
"""Log ratio of the estimated δ to the charge at the first cut, and at the second, where the charge is negligible."""
_LARGEST_EPSILON = 600.0
"""Largest ε, in nats, at which α = e^ε is computed. Beyond it, the upper bound at this ε is valid: δ decreases."""
_SMALL_CHARGE, _ENOUGH, _FAR_ABOVE, _SURPRISE = 4.4, 12.0, 0.3, 0.0
"""Log ratio of δ to the charge and to errors; excess over the estimate from which a bound is computed again."""
LEAST_BLANKET = 8.0
"""Mean number of clients in the blanket below which the bound is not computed, because it hides too little."""


def log_blanket_mass(noise_multiplier: float) -> float:
    """Return log γ = log 2Φ(−C/σ): the share of every report that does not depend on its contribution."""
    return math.log(2.0) + float(log_ndtr(-1.0 / noise_multiplier))


class _Cells(NamedTuple):
    """Cells of w ≥ 0 with their masses under the density φ(w + c), and the uniform pieces below that density.

    The density of the excess x = ρ − 1 = e^{2cw} − 1 is the sum of uniform pieces [0, x_j] and of a rest.

    Attributes:
        edges: edges of the cells in w, increasing from 0.
        edge_excess: x at the edges.
        to_low: mass of the rest in each cell that is moved to the cell's lower edge.
        to_high: mass of the rest in each cell that is moved to its upper edge. Both together keep the mean of x.
        mean_excess: mean of x under the rest, in each cell.
        errors: bounds on the numerical errors of the masses of the rest.
        levels: right ends x_j of the uniform pieces.
        level_mass: masses of the uniform pieces.
        lump_excess: mean of x over each lump of `_LUMP` cells, pieces included, for estimates.
        lump_mass: mass of each lump.
    """

    edges: FloatArray
    edge_excess: FloatArray
    to_low: FloatArray
    to_high: FloatArray
    mean_excess: FloatArray
    errors: FloatArray
    levels: FloatArray
    level_mass: FloatArray
    lump_excess: FloatArray
    lump_mass: FloatArray


class NearBound(NamedTuple):
    """An upper bound of log δ, the tilt of its sum, and whether a single report dominates δ."""

    upper: float
    tilt: float | None
    single: bool


@dataclass(frozen=True)
class GaussianBlanketBound(ScaledBound):
    """The blanket's bound for n one-dimensional Gaussian reports, certified on both sides and at most the local bound.

    Attributes:
        clients: n, the victim included.
        noise_multiplier: σ/C.

    Guarantees: the upper bound is at least the exact one and the lower bound at most. They differ by about 1e-3 in log
    δ if no single report dominates δ, and by more beyond. The cost does not depend on n.
    """

    clients: int
    noise_multiplier: float

    @cached_property
    def _reach(self) -> float:
        """c = C/σ, rounded up, which means less noise."""
        return 1.0 / self.noise_multiplier * (1.0 + 4 * UNIT_ROUNDOFF)

    @cached_property
    def _cells(self) -> _Cells:
        """Cells of w, with their masses and moments by Gauss-Legendre quadrature at eight nodes per cell."""
        c = self._reach
        edges, levels = self._edges_and_levels()
        low, width = edges[:-1, None], np.diff(edges)[:, None]
        w = low + 0.5 * width * (1.0 + _GAUSS_X)
        weight = 0.5 * width * _GAUSS_W * math.sqrt(0.5 / math.pi)
        density = np.exp(-0.5 * (w + c) ** 2)

        # The density of x = ρ − 1 decreases. A step function below it, with steps at the levels, is a sum of uniform
        # pieces. The factor 1 − 1e-12 keeps it below the density despite roundoff.
        height = np.exp(-0.5 * (levels + c) ** 2 - 2.0 * c * levels) / (2.0 * c) * (1.0 - 1e-12)
        step = np.searchsorted(levels, 0.5 * (edges[:-1] + edges[1:]))
        piece_density = np.append(height, 0.0)[step][:, None] * 2.0 * c * np.exp(2.0 * c * w)
        rest = weight * np.maximum(density - piece_density, 0.0)

        # A mass at x is split between the bounds of its cell in proportion to its position, which keeps the mean.
        position = np.expm1(2.0 * c * (w - low)) / np.expm1(2.0 * c * width)
        to_high, to_low = (rest * position).sum(axis=1), (rest * (1.0 - position)).sum(axis=1)
        mass = np.where(to_high + to_low > 0.0, to_high + to_low, 1.0)
        excess = np.expm1(2.0 * c * edges)
        right_ends = np.expm1(2.0 * c * levels)

        cell_mass = (weight * density).sum(axis=1)
        moment = (weight * density * np.expm1(2.0 * c * w)).sum(axis=1)
        first_of_lump = np.arange(0, cell_mass.size, _LUMP)
        lump_mass = np.maximum(np.add.reduceat(cell_mass, first_of_lump), _LEAST_MASS)
        return _Cells(
            edges=edges,
            edge_excess=excess,
            to_low=to_low,
            to_high=to_high,
            mean_excess=excess[:-1] + np.diff(excess) * to_high / mass,
            errors=UNIT_ROUNDOFF * (64.0 + 4.0 * (edges[1:] + c) ** 2) * cell_mass,
            levels=right_ends,
            level_mass=math.sqrt(0.5 / math.pi) * (height - np.append(height[1:], 0.0)) * right_ends,
            lump_excess=np.add.reduceat(moment, first_of_lump) / lump_mass,
            lump_mass=lump_mass,
        )

    def _edges_and_levels(self) -> tuple[FloatArray, FloatArray]:
        """Return the edges of the cells, and those of them at which uniform pieces end.

        There are no pieces if fewer than `_FEW` reports are expected in the blanket. The pieces would then bound the
        transform of the sum too weakly, and the sum is smoothed by a Gaussian instead.
        """
        c = self._reach
        furthest = min(c + _FURTHEST, _LARGEST_LOG_RATIO / (2.0 * c))
        grid = np.linspace(0.0, furthest, math.ceil(furthest * (1.0 + c) / _SPACING) + 1)
        log_expected = math.log(self.clients) + log_blanket_mass(self.noise_multiplier)
        if log_expected > math.log(_FEW):
            levels = np.linspace(0.0, min(3.0 / (1.0 + 2.0 * c), furthest), _LEVELS + 1)[1:]
        else:
            levels = np.empty(0)
        return np.unique(np.concatenate((grid, levels))), levels

    def _distribution(self, growth: float, last: int, *, upper: bool) -> StepLaw:
        """Return a distribution of Y, cut at an edge B, for a one-sided bound on E[(Y₁ + … + Y_n)₊].

        A mass at excess x = ρ − 1 gives an atom of Y at ρ − α = x − (α − 1), for w > 0, and an equal atom at
        1 − αρ = −(x + (α − 1) + (α − 1)x), for w < 0. Of the mass beyond B only the atom for w < 0 is kept.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge B, the last edge of the cells that are used.
            upper: whether the mass of a cell is split between its bounds, for an upper bound. Otherwise it is moved to
                its mean, for a lower bound.
        """
        cells, c = self._cells, self._reach
        to_low, to_high, errors = cells.to_low[:last], cells.to_high[:last], cells.errors[:last]
        mass_beyond = float(ndtr(-(cells.edges[last] + c)))
        if upper:
            excess = cells.edge_excess[: last + 1]
            weights = np.append(to_low, 0.0) + np.append(0.0, to_high)
            weight_errors = np.append(errors, 0.0) + np.append(0.0, errors)
            excess_beyond = float(excess[-1])
        else:
            excess, weights, weight_errors = cells.mean_excess[:last], to_low + to_high, 2.0 * errors
            if mass_beyond > 0.0:
                excess_beyond = float(ndtr(c - cells.edges[last])) / mass_beyond - 1.0
            else:
                excess_beyond = float(excess[-1])
        positive = excess - growth
        negative = -(excess + growth + growth * excess)
        negative_beyond = -(excess_beyond + growth + growth * excess_beyond)
        roundoff = UNIT_ROUNDOFF * (4.0 + 8.0 * c * float(cells.edges[last]))
        place_errors = roundoff * np.concatenate((excess + growth, -negative, [-2.0 * negative_beyond]))
        atoms = WeightedPlaces(
            places=np.concatenate((positive, negative, [negative_beyond])),
            weights=np.concatenate((weights, weights, [mass_beyond])),
            place_errors=place_errors,
            weight_errors=np.concatenate((weight_errors, weight_errors, [1e-14 * mass_beyond])),
        )
        return StepLaw(atoms, self._pieces(growth))

    def _pieces(self, growth: float) -> Pieces:
        """Return the uniform pieces of the distribution of Y.

        A piece [0, x_j] of the excess becomes [−(α − 1), x_j − (α − 1)] for w > 0, and
        [−(x_j + (α − 1) + (α − 1)x_j), −(α − 1)] for w < 0, with the same mass.

        Args:
            growth: α − 1 = e^ε − 1.
        """
        mass, right_end = self._cells.level_mass, self._cells.levels
        at_zero = np.full(right_end.size, -growth)
        return Pieces(
            low=np.concatenate((at_zero, -(right_end + growth + growth * right_end))),
            high=np.concatenate((right_end - growth, at_zero)),
            mass=np.concatenate((mass, mass)),
        )

    def sequential_upper(self) -> Callable[[float], float]:
        """Return `upper` for increasing ε, with the cut and the tilt that the values so far suggest."""
        return _UpperSequence(self)

    def upper_near(self, epsilon: float, local: float, expected: float, tilt: float | None) -> NearBound:
        """Return an upper bound at ε that is tight if log δ is near an expected value.

        Args:
            epsilon: ε, in nats.
            local: upper bound of log δ without shuffling.
            expected: the expected log δ.
            tilt: tilt of the compound sum at a smaller ε, where the search for the tilt starts; None if there is none.

        Returns:
            The bound. It has the given tilt if the sum cannot be positive, so that only the charge remains.
        """
        last = self._cut_for(expected)
        law = self._distribution(math.expm1(min(epsilon, _LARGEST_EPSILON)), last, upper=True)
        total = CompoundSum(law, self.clients, tilt)
        if total.law.most == 0.0:
            return NearBound(min(self._charge(last), local), tilt, single=False)
        shift = math.log(self.clients)
        # If a single report dominates δ, the estimate is far above the expected value.
        excess = max(total.log_estimate - shift - expected, 0.0)
        main = total.log_positive_part(min(_ENOUGH + excess, NEGLIGIBLE)).upper - shift + 8 * UNIT_ROUNDOFF
        bound = min(local, float(np.logaddexp(main, min(self._charge(last), local))))
        return NearBound(bound, total.tilt, single=excess > _FAR_ABOVE)

    def local_upper(self, epsilon: float) -> float:
        """Return the upper bound of log δ(ε) by the local guarantee of a report."""
        return gaussian_pair(2.0 * self._reach).log_delta_bounds(epsilon).upper

    def _cut_for(self, log_delta: float) -> int:
        """Return the index of an edge B with log Φ(c − B) about `_SMALL_CHARGE` below `log_delta`."""
        distance = -float(ndtri_exp(min(log_delta, 0.0) - _SMALL_CHARGE))
        return self._find_edge(min(max(distance, _NEAREST), _FURTHEST))

    def _sum(self, growth: float, last: int, *, upper: bool = True) -> CompoundSum:
        """Return the sum of n copies of Y, cut at the edge `last`, for growth = α − 1; see `_distribution`."""
        return CompoundSum(self._distribution(growth, last, upper=upper), self.clients)

    def _find_edge(self, distance: float) -> int:
        """Return the index of the first cell edge at least `distance` beyond c."""
        edges = self._cells.edges
        return min(max(int(np.searchsorted(edges, self._reach + distance)), 8), edges.size - 1)

    def _charge(self, last: int) -> float:
        """Return log Φ(c − B), rounded up, for the edge B with index `last`."""
        value = float(log_ndtr(self._reach - self._cells.edges[last]))
        return value + 64 * UNIT_ROUNDOFF * (1.0 + abs(value))

    def log_bound(self, epsilon: float) -> Interval:
        """Return both numerical bounds of log δ."""
        return Interval(*self._enclose(epsilon, both=True))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound from one cut instead of two."""
        return self._enclose(epsilon, both=False).upper

    def _enclose(self, epsilon: float, *, both: bool) -> LogEnds:
        """Return bounds of log δ: the best over the cuts, and never worse than those of the local guarantee.

        Args:
            epsilon: ε, in nats.
            both: whether a second cut is used, and a lower bound computed. Otherwise the lower bound is −∞.
        """
        local = gaussian_pair(2.0 * self._reach).log_delta_bounds(epsilon)
        if local.upper < _DEEPEST:
            return LogEnds(*local)
        growth = math.expm1(min(epsilon, _LARGEST_EPSILON))
        shift = math.log(self.clients)
        upper, lower = local.upper, -math.inf
        for last in self._cuts(growth) if both else self._cuts(growth)[:1]:
            main = self._sum(growth, last).log_positive_part().upper - shift + 8 * UNIT_ROUNDOFF
            upper = min(upper, float(np.logaddexp(main, min(self._charge(last), local.upper))))
            if both:
                lower = max(lower, self._sum(growth, last, upper=False).log_positive_part().lower - shift)
        return LogEnds(min(lower, local.lower, upper), upper)

    def _cuts(self, growth: float) -> tuple[int, ...]:
        """Return the indices of one or two edges B at which Y may be cut, for growth = α − 1.

        At the first the charge Φ(c − B) is a small share of the estimated δ, at the second a negligible one. The first
        is found by bisection. If both are the same edge, it is returned once.
        """
        near, far = _NEAREST, _FURTHEST
        while far - near > _STEP:
            middle = 0.5 * (near + far)
            last = self._find_edge(middle)
            if self._charge(last) < self._estimate(growth, last) - _FIRST_CUT:
                far = middle
            else:
                near = middle
        first = self._find_edge(far)
        target = self._estimate(growth, first) - _SECOND_CUT
        distance = far
        while distance < _FURTHEST and self._charge(self._find_edge(distance)) > target:
            distance += _STEP
        second = self._find_edge(distance)
        return (first, second) if second > first else (first,)

    def _estimate(self, growth: float, last: int) -> float:
        """Estimate log δ without the charge, by a saddle point over lumps of cells.

        Args:
            growth: α − 1 = e^ε − 1.
            last: index of the edge at which Y is cut.

        Returns:
            The estimate, with no certified error; −∞ if no atom of Y is positive.
        """
        count = max(last // _LUMP, 2)
        excess, mass = self._cells.lump_excess[:count], self._cells.lump_mass[:count]
        places = np.concatenate((excess - growth, -(excess + growth + growth * excess)))
        no_errors = np.zeros(places.size)
        total = CompoundSum(
            StepLaw(WeightedPlaces(places, np.concatenate((mass, mass)), no_errors, no_errors)), self.clients
        )
        return total.log_estimate - math.log(self.clients) if total.law.most > 0.0 else -math.inf


@dataclass
class _UpperSequence:
    """Upper bounds of log δ at increasing ε, with the cut and the tilt that the previous values suggest.

    Every cut and tilt gives a valid bound. Once a single report dominates δ, the previous values suggest nothing, and
    each bound is computed separately.

    Attributes:
        bound: the bound that is evaluated.
        values: ε and upper bound of log δ of the previous calls, in their order.
        tilt: tilt of the compound sum at the previous ε; None before the first sum.
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
        """Return an upper bound from the suggested cut, or from a search for the best cut if that is better."""
        if self.single or len(self.values) < 2:
            return self.bound.upper(epsilon)
        local = self.bound.local_upper(epsilon)
        if local < _DEEPEST:
            return local
        expected = min(_extrapolate(self.values, epsilon), local)
        upper, self.tilt, self.single = self.bound.upper_near(epsilon, local, expected, self.tilt)
        if self.single:
            return self.bound.upper(epsilon)
        if upper > expected + _SURPRISE:
            return min(upper, self.bound.upper(epsilon))
        return upper


def _extrapolate(values: list[tuple[float, float]], epsilon: float) -> float:
    """Extrapolate log δ to ε on the line through the last two points, or on a level line if this one increases.

    Args:
        values: at least two points (ε, log δ), in increasing ε.
        epsilon: ε above those of the points, in nats.
    """
    (epsilon_before, before), (epsilon_last, last) = values[-2:]
    return last + min(last - before, 0.0) * (epsilon - epsilon_last) / (epsilon_last - epsilon_before)
