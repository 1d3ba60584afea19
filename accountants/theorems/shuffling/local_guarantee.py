"""Bounds of a shuffled mechanism from its local guarantee only: clones and the closed form, at the best (ε₀, δ₀).

A local randomizer that is (ε₀, δ₀) for every two inputs is near a purely private one. With s = 1/(1 + e^{ε₀}),

 - the victim's two distributions R₀, R₁ are within sδ₀, in total variation, of two that are ε₀-indistinguishable;
 - every other client's distribution is e^{−ε₀} H' + (1 − e^{−ε₀}) G for some G, with H' within δ₀ of (R₀ + R₁)/2.

So either world is within sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀ of the clone pair (docs/shuffling.md). A distance of t adds
(1 + e^ε) t to δ. A local guarantee is a curve, so ε₀ may be chosen freely, and the best one is used at every ε.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.search import upper_epsilon
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimate_clones
from epsilond.accountants.theorems.shuffling.planned_rows import (
    TABLES_KEPT,
    Costs,
    Estimates,
    cell_representative,
    epsilon_grid,
    plan_table,
)
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import Rows, Table

_LARGEST = 700.0
"""Largest ε₀ of a local guarantee, in nats."""
_COARSE, _FINE = 24, 96
"""Number of ε₀ at which a guarantee is evaluated: a coarse scan, then the range that matters."""
_DEEPEST = -745.0
"""log δ₀ below which δ₀ is below every double."""
OFFSETS = np.asarray([-1.0, -0.5, 0.0, 0.5, 1.0])
"""Points of a refinement, relative to its reach."""
POINTS_KEPT, CLONES_KEPT = 8, 48
"""Number of local guarantees and of clone pairs that are stored."""


@dataclass(frozen=True)
class LocalCurve:
    """The points (ε₀, δ₀) of a local guarantee: the guarantee of a single report, for every two inputs.

    A guarantee with δ₀ = 0 at some ε₀ ≤ 700 is a single point with log δ₀ = −inf.
    """

    pair: Pair

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Increasing ε₀, and upper bounds of log δ₀."""
        return _gaussian_points(self.pair) if self.pair.gaussian_dp_mu else self._evaluate_points()

    def _evaluate_points(self) -> tuple[FloatArray, FloatArray]:
        """Evaluate log δ₀ at ε₀ in the range that matters; at one ε₀ if the guarantee is pure."""
        if math.isinf(self.pair.log_delta_bounds(_LARGEST).upper):
            pure = upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, -1e300)
            return np.asarray([pure]), np.asarray([-np.inf])
        coarse = np.geomspace(1e-6, _LARGEST, _COARSE)
        values = self.pair.log_delta(coarse).upper
        useful = np.flatnonzero((values < -2.0) & (values > _DEEPEST))
        if useful.size == 0:
            return coarse, values
        low, high = max(int(useful[0]) - 1, 0), min(int(useful[-1]) + 1, _COARSE - 1)
        fine = np.geomspace(coarse[low], coarse[high], _FINE)
        return fine, self.pair.log_delta(fine).upper

    def rough_lower_bound(self, epsilon: float) -> float:
        """Estimate a lower bound on log δ₀ at ε by the value at the next point; −∞ beyond the last one.

        The estimate decides only which bounds are evaluated.
        """
        places, log_delta = self.points
        following = int(np.searchsorted(places, epsilon))
        return float(log_delta[following]) if following < places.size else -math.inf

    def estimate(self, epsilon: FloatArray) -> FloatArray:
        """Interpolate log δ₀ at several ε: too low below the first point; 0 below the ε₀ of a pure guarantee."""
        places, log_delta = self.points
        if places.size == 1:
            return np.where(epsilon < places[0], 0.0, -np.inf)
        return np.asarray(np.interp(epsilon, places, log_delta))

    @property
    def log_step(self) -> float:
        """Mean spacing of the logarithms of the points."""
        points = self.points[0]
        return math.log(points[-1] / points[0]) / max(points.size - 1, 1)

    def spread_points(self, logs: FloatArray, reach: float) -> FloatArray:
        """Return five ε₀ around each e^log, at most a factor e^±reach away, within the range of the points."""
        points = self.points[0]
        return np.clip(np.exp(logs[:, None] + reach * OFFSETS), points[0], points[-1])

    @property
    def pure(self) -> float:
        """ε₀ if δ₀ = 0, otherwise math.inf."""
        epsilon, log_delta = self.points
        return float(epsilon[0]) if np.isneginf(log_delta).all() else math.inf


@functools.lru_cache(POINTS_KEPT)
def _gaussian_points(pair: Pair) -> tuple[FloatArray, FloatArray]:
    """Evaluate a Gaussian guarantee once for the several bounds of one account."""
    return LocalCurve(pair)._evaluate_points()  # noqa: SLF001


def log_distance(clients: int, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """Return log of sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀, rounded up, where s = 1/(1 + e^ε₀).

    This is the total variation distance of shuffled (ε₀, δ₀) reports from the clone pair of (ε₀, 0) reports.

    Args:
        clients: number n of clients.
        epsilon: ε₀ of one report, in nats.
        log_delta: log δ₀ of one report.
    """
    share = 1.0 / (1.0 + np.exp(epsilon))
    factor = np.log(share + (clients - 1) * np.exp(-epsilon) * (1.0 + share))
    rounded_up = log_delta * (1.0 - 4.0 * UNIT_ROUNDOFF)  # towards 0; −∞ stays
    return np.asarray(rounded_up + factor + UNIT_ROUNDOFF * (16.0 + 4.0 * np.abs(factor)))


EVERY = slice(None)
"""Slice of all points."""
_AROUND = 4
"""Number of points on either side of the last best one that are compared at the next ε."""
_CHOICES = 96
"""Number of ε₀ per factor of two: fixed values, so that tables of different noises share them."""


def neighbourhood(place: int, size: int) -> slice:
    """Return the slice of a few points on either side of a point.

    Args:
        place: index of the point.
        size: number of all points.
    """
    return slice(max(place - _AROUND, 0), min(place + _AROUND + 1, size))


@dataclass(frozen=True)
class LocalClonesBound(ScaledBound):
    """The best clone pair at each ε, over the points (ε₀, δ₀) of a local guarantee; never above the local bound.

    A local guarantee is that of a single report. A clone pair bounds δ after shuffling (see `clones`).

    Attributes:
        clients: number n of clients.
        local: the local guarantee.
        coarse: whether tables have fewer rows, for a search.

    Guarantees: the upper bound is valid for every chosen pair. The choice is by an estimate, so the lower bound only
    states how accurately the chosen bound was computed.
    """

    clients: int
    local: LocalCurve
    coarse: bool = False
    _clone_bounds: dict[int, ClonesBound] = field(default_factory=dict, repr=False, compare=False)

    @property
    def largest_loss(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return self.local.pure

    @property
    def lossy(self) -> bool:
        """True for Gaussian reports, which have δ > 0 at ε = 0."""
        return self.local.pair.gaussian_dp_mu is not None

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ of the clone pair that seems best at ε, or of the local guarantee if that is lower."""
        local = self.local.pair.log_delta_bounds(epsilon)
        clones = self._clones(self._best(epsilon)).log_bound(epsilon)
        upper = min(clones.upper, local.upper)
        return Interval(min(clones.lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return a cheap upper bound on log δ, from the clone pair that seems best at ε and the local guarantee."""
        return self._upper_at(self._best(epsilon), epsilon)

    def sequential_upper(self) -> Callable[[float], float]:
        """Return a function with the values of `upper`, to be called with increasing ε.

        It remembers the best point (ε₀, δ₀) at the previous ε, and searches near it.
        """
        last: int | None = None

        def upper(epsilon: float) -> float:
            nonlocal last
            among = EVERY if last is None else neighbourhood(last, self.local.points[0].size)
            last = self._best(epsilon, among)
            return self._upper_at(last, epsilon)

        return upper

    def _upper_at(self, place: int, epsilon: float) -> float:
        """Return the lower one of a clone pair's quick bound and the local bound."""
        bound = self._clones(place).upper(epsilon)
        if self.local.rough_lower_bound(epsilon) > bound:
            return bound
        return min(bound, self.local.pair.log_delta_bounds(epsilon).upper)

    def _best(self, epsilon: float, among: slice = EVERY) -> int:
        """Return the index of the best (ε₀, δ₀) at ε, by the normal approximation of the clones' loss."""
        local, log_delta = (part[among] for part in self.local.points)
        return int(np.argmin(self._estimate(epsilon, local, log_delta))) + (among.start or 0)

    def _estimate(self, epsilon: FloatArray | float, local: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Estimate log δ of the clone pairs of some (ε₀, δ₀)."""
        main = estimate_clones(epsilon, local, -local, self.clients)
        charge = log_distance(self.clients, local, log_delta) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(main, charge))

    def rows(self) -> Rows:
        """Return increasing ε with certified upper bounds on log δ.

        Gaussian reports with nearly the same noise share a table, which is stored. Other reports have one of their own.
        """
        representative = cell_representative(self.local.pair)
        make = _make_and_store if representative.gaussian_dp_mu else _make
        local, table = make(self.clients, representative, self.coarse)
        return table.rows(self._costs(local))

    def _costs(self, local: FloatArray) -> Costs:
        """Return the terms that depend on the noise: the distance to the clone pair of each ε₀, and the local bound."""
        log_delta = self.local.pair.log_delta(local).upper
        return Costs(
            log_distance(self.clients, local, log_delta), lambda epsilon: self.local.pair.log_delta(epsilon).upper
        )

    def plan(self) -> tuple[FloatArray, Table]:
        """Plan a table of upper bounds on log δ.

        Returns:
            The values of ε₀ for the clone pairs of the table, and the table. The values are closer together than the
            points of the local guarantee, in the range that has the best ones.
        """
        local, log_delta = self.local.points
        at_zero = int(np.argmin(self._estimate(0.0, local, log_delta)))
        best_local = float(local[at_zero])
        scale = 2.0 * math.tanh(0.5 * best_local) / math.sqrt((self.clients - 1) * math.exp(-best_local) + 1.0)
        epsilon = epsilon_grid(scale, float(local[-1]))
        own = self.local.estimate(epsilon)
        if local.size > 1:
            sparse = slice(None, None, 3)
            rough = self._estimate(epsilon[sparse, None], local, log_delta)
            best = np.argmin(rough, axis=1)[rough.min(axis=1) < own[sparse] + 1.0]
            if best.size:
                low, high = max(int(best.min()) - 1, 0), min(int(best.max()) + 1, local.size - 1)
                first, last = (round(_CHOICES * math.log2(local[place])) for place in (low, high))
                local = np.exp2(np.arange(first, last + 1) / _CHOICES)
                log_delta = self.local.pair.log_delta(local).upper
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates = Estimates(epsilon, self._estimate(epsilon[:, None], local, log_delta), own)

        def upper_bounds(choice: int, at: FloatArray) -> FloatArray:
            return _clones(self.clients, float(local[choice])).upper_bounds(at)

        used, table = plan_table(estimates, upper_bounds, self._costs(local), coarse=self.coarse).compact()
        return local[used], table

    def _clones(self, place: int) -> ClonesBound:
        """Return the stored clone bound of one point."""
        if place not in self._clone_bounds:
            self._clone_bounds[place] = self._clones_of(*(float(part[place]) for part in self.local.points))
        return self._clone_bounds[place]

    def _clones_of(self, epsilon: float, log_delta: float) -> ClonesBound:
        """Return the clone bound of one (ε₀, δ₀), with the charge for its distance."""
        distance = float(log_distance(self.clients, np.asarray(epsilon), np.asarray(log_delta)))
        return ClonesBound(self.clients, math.exp(-epsilon), epsilon, distance)


def _make(clients: int, pair: Pair, coarse: bool) -> tuple[FloatArray, Table]:
    """Return the values of ε₀ that a table for Gaussian or other reports uses, and the table."""
    return LocalClonesBound(clients, LocalCurve(pair), coarse).plan()


_make_and_store = functools.lru_cache(TABLES_KEPT)(_make)


@functools.lru_cache(CLONES_KEPT)
def _clones(clients: int, local: float) -> ClonesBound:
    """Return a clone pair without distance; its distribution of clones is computed once."""
    return ClonesBound(clients, math.exp(-local), local)


@dataclass(frozen=True)
class ClosedFormBound(ScaledBound):
    """The curve of Lowy and Razaviyayn, Theorem F.2, for clients with one record each; never above the local bound.

    The theorem gives an ε^r for every δ ≥ 2 e^{−n e^{−ε₀}/16}. The bound at ε is the least such δ with ε^r ≤ ε, plus
    the charge for δ₀, which is (1 + e^ε) n (1 + e^{−ε₀}/2) δ₀.
    """

    clients: int
    local: LocalCurve

    @property
    def largest_loss(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return self.local.pure

    def log_bound(self, epsilon: float) -> Interval:
        """Return the bound at ε for the best (ε₀, δ₀)."""
        local_bounds = self.local.pair.log_delta_bounds(epsilon)
        local, log_delta = self.local.points
        at = min(epsilon, _LARGEST)
        crowd = np.exp(local) / self.clients
        # Without a local loss the closed form is not defined; the local bound is 0 then.
        odds = np.divide(math.expm1(at), np.tanh(0.5 * local), where=local > 0.0, out=np.zeros_like(local))
        rest = odds - 8.0 * crowd
        rest = np.minimum(np.maximum(rest, 0.0), 1e100)
        least = np.maximum(math.log(4.0) - rest * rest / (64.0 * crowd), math.log(2.0) - 1.0 / (16.0 * crowd))
        charge = log_delta + math.log(self.clients) + np.log1p(0.5 * np.exp(-local)) + float(np.logaddexp(0.0, at))
        best = float(np.logaddexp(np.where(rest > 0.0, least, 0.0), charge).min())
        slack = 64 * UNIT_ROUNDOFF * (1.0 + abs(best))
        upper = min(best + slack, local_bounds.upper, 0.0)
        return Interval(min(best - slack, local_bounds.lower, upper), upper)
