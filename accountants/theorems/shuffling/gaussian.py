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
_NEAREST, _STEP, _FEW, _DEEPEST = 2.0, 0.25, 80.0, -745.0
"""Nearest cut, step of the search for cuts, reports in the blanket below which no pieces are used, and least log δ."""
_SMALL_CHARGE, _ENOUGH, _FAR_ABOVE, _SURPRISE = 4.4, 12.0, 0.3, 0.0
"""Log ratio of δ to the charge and to errors; excess over the estimate from which a bound is computed again."""
LEAST_BLANKET = 8.0
"""Mean number of clients in the blanket below which the bound is not computed, because it hides too little."""


def log_blanket_mass(noise_multiplier: float) -> float:
    """Return log γ = log 2Φ(−C/σ): the share of every report that does not depend on its contribution."""
    return math.log(2.0) + float(log_ndtr(-1.0 / noise_multiplier))


class _Cells(NamedTuple):
    """Cells of w ≥ 0 under φ(w + c), without the mass of the uniform pieces; `excess` is ρ − 1."""

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
        """Cells of w, with their masses and moments."""
        c = self._reach
        furthest = min(c + _FURTHEST, 690.0 / (2.0 * c))
        # With few reports the uniform pieces decay too slowly, and the sum is smoothed instead.
        many = math.log(self.clients) + log_blanket_mass(self.noise_multiplier) > math.log(_FEW)
        levels = np.linspace(0.0, min(3.0 / (1.0 + 2.0 * c), furthest), _LEVELS + 1)[1 if many else _LEVELS + 1 :]
        grid = np.linspace(0.0, furthest, math.ceil(furthest * (1.0 + c) / _SPACING) + 1)
        edges = np.unique(np.concatenate((grid, levels)))
        low, width = edges[:-1, None], np.diff(edges)[:, None]
        w = low + 0.5 * width * (1.0 + _GAUSS_X)
        weight = 0.5 * width * _GAUSS_W * math.sqrt(0.5 / math.pi)
        density = np.exp(-0.5 * (w + c) ** 2)
        # A step function below the density of ρ, which decreases, is represented by uniform pieces on [1, ρ(level)].
        height = np.exp(-0.5 * (levels + c) ** 2 - 2.0 * c * levels) / (2.0 * c) * (1.0 - 1e-12)
        inside = np.searchsorted(levels, 0.5 * (edges[:-1] + edges[1:]))
        piece_density = np.append(height, 0.0)[inside][:, None] * 2.0 * c * np.exp(2.0 * c * w)
        rest = weight * np.maximum(density - piece_density, 0.0)
        share = np.expm1(2.0 * c * (w - low)) / np.expm1(2.0 * c * width)
        to_high, to_low = (rest * share).sum(axis=1), (rest * (1.0 - share)).sum(axis=1)
        mass = np.where(to_high + to_low > 0.0, to_high + to_low, 1.0)
        excess = np.expm1(2.0 * c * edges)
        cell_mass = (weight * density).sum(axis=1)
        lumps = np.arange(0, cell_mass.size, _LUMP)
        lump_mass = np.maximum(np.add.reduceat(cell_mass, lumps), 1e-300)
        moment = (weight * density * np.expm1(2.0 * c * w)).sum(axis=1)
        return _Cells(
            edges=edges,
            edge_excess=excess,
            to_low=to_low,
            to_high=to_high,
            mean_excess=excess[:-1] + np.diff(excess) * to_high / mass,
            errors=UNIT_ROUNDOFF * (64.0 + 4.0 * (edges[1:] + c) ** 2) * cell_mass,
            levels=np.expm1(2.0 * c * levels),
            level_mass=math.sqrt(0.5 / math.pi) * (height - np.append(height[1:], 0.0)) * np.expm1(2.0 * c * levels),
            lump_excess=np.add.reduceat(moment, lumps) / lump_mass,
            lump_mass=lump_mass,
        )

    def _distribution(self, growth: float, last: int, *, upper: bool) -> StepLaw:
        """Return the distribution of Y, cut after a cell.

        Args:
            growth: α − 1.
            last: index of the last cell.
            upper: whether the mass of a cell is split between its bounds, for an upper bound. Otherwise it is at its
                mean.
        """
        cells, c = self._cells, self._reach
        to_low, to_high, errors = cells.to_low[:last], cells.to_high[:last], cells.errors[:last]
        beyond = float(ndtr(-(cells.edges[last] + c)))
        if upper:
            excess = cells.edge_excess[: last + 1]
            weights = np.append(to_low, 0.0) + np.append(0.0, to_high)
            weight_errors = np.append(errors, 0.0) + np.append(0.0, errors)
            furthest = float(excess[-1])
        else:
            excess, weights, weight_errors = cells.mean_excess[:last], to_low + to_high, 2.0 * errors
            furthest = float(ndtr(c - cells.edges[last])) / beyond - 1.0 if beyond > 0.0 else float(excess[-1])
        above = excess - growth
        below = -(excess + growth + growth * excess)
        end = -(furthest + growth + growth * furthest)
        unit = UNIT_ROUNDOFF * (4.0 + 8.0 * c * float(cells.edges[last]))
        place_errors = unit * np.concatenate((excess + growth, -below, [-2.0 * end]))
        atoms = WeightedPlaces(
            np.concatenate((above, below, [end])),
            np.concatenate((weights, weights, [beyond])),
            place_errors,
            np.concatenate((weight_errors, weight_errors, [1e-14 * beyond])),
        )
        return StepLaw(atoms, self._pieces(growth))

    def _pieces(self, growth: float) -> Pieces:
        """Return the uniform pieces of the distribution of Y, for growth = α − 1."""
        size, top = self._cells.level_mass, self._cells.levels
        start = np.full(top.size, -growth)
        return Pieces(
            np.concatenate((start, -(top + growth + growth * top))),
            np.concatenate((top - growth, start)),
            np.concatenate((size, size)),
        )

    def sequential_upper(self) -> Callable[[float], float]:
        """Return `upper` for increasing ε, with the cut and the tilt that the values so far suggest."""
        return _UpperSequence(self)

    def upper_near(self, epsilon: float, local: float, expected: float, tilt: float | None) -> NearBound:
        """Return an upper bound at ε that is tight if log δ is near an expected value.

        Args:
            epsilon: ε, in nats.
            local: upper bound of log δ by the local guarantee.
            expected: the expected log δ.
            tilt: tilt of the compound sum at a smaller ε, if known.
        """
        last = self._cut_for(expected)
        law = self._distribution(math.expm1(min(epsilon, 600.0)), last, upper=True)
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
        """Return a cut with a charge that is a small share of δ."""
        distance = -float(ndtri_exp(min(log_delta, 0.0) - _SMALL_CHARGE))
        return self._find_edge(min(max(distance, _NEAREST), _FURTHEST))

    def _sum(self, growth: float, last: int, *, upper: bool = True) -> CompoundSum:
        """Return the compound sum of Y over the clients."""
        return CompoundSum(self._distribution(growth, last, upper=upper), self.clients)

    def _find_edge(self, distance: float) -> int:
        """Return the index of the first cell edge at least `distance` beyond c."""
        edges = self._cells.edges
        return min(max(int(np.searchsorted(edges, self._reach + distance)), 8), edges.size - 1)

    def _charge(self, last: int) -> float:
        """Return log Φ(c − B), rounded up."""
        value = float(log_ndtr(self._reach - self._cells.edges[last]))
        return value + 64 * UNIT_ROUNDOFF * (1.0 + abs(value))

    def log_bound(self, epsilon: float) -> Interval:
        """Return both numerical bounds of log δ."""
        return Interval(*self._enclose(epsilon, both=True))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound from one cut instead of two."""
        return self._enclose(epsilon, both=False).upper

    def _enclose(self, epsilon: float, *, both: bool) -> LogEnds:
        """Return bounds of log δ; the lower one, and a second cut, only if `both`."""
        local = gaussian_pair(2.0 * self._reach).log_delta_bounds(epsilon)
        if local.upper < _DEEPEST:
            return LogEnds(*local)
        growth = math.expm1(min(epsilon, 600.0))
        shift = math.log(self.clients)
        upper, lower = local.upper, -math.inf
        for last in self._cuts(growth) if both else self._cuts(growth)[:1]:
            main = self._sum(growth, last).log_positive_part().upper - shift + 8 * UNIT_ROUNDOFF
            upper = min(upper, float(np.logaddexp(main, min(self._charge(last), local.upper))))
            if both:
                lower = max(lower, self._sum(growth, last, upper=False).log_positive_part().lower - shift)
        return LogEnds(min(lower, local.lower, upper), upper)

    def _cuts(self, growth: float) -> tuple[int, ...]:
        """Return two cuts: one at which the charge begins to be small, and one at which it is negligible."""
        near, far = _NEAREST, _FURTHEST
        while far - near > _STEP:
            middle = 0.5 * (near + far)
            last = self._find_edge(middle)
            if self._charge(last) < self._estimate(growth, last) - 4.0:
                far = middle
            else:
                near = middle
        first = self._find_edge(far)
        target = self._estimate(growth, first) - 9.5
        distance = far
        while distance < _FURTHEST and self._charge(self._find_edge(distance)) > target:
            distance += _STEP
        second = self._find_edge(distance)
        return (first, second) if second > first else (first,)

    def _estimate(self, growth: float, last: int) -> float:
        """Estimate log δ without the charge, by a saddle point over lumps of cells; −∞ if no loss exceeds ε."""
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
    """Extrapolate log δ to ε on the line through the last two points."""
    (before, higher), (here, value) = values[-2:]
    return value + min(value - higher, 0.0) * (epsilon - here) / (here - before)
