"""The bound of a shuffled mechanism by clone pairs, from its local guarantee only, at the best (ε₀, δ₀).

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
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from epsilond.accountants.curve.bracketed_search import upper_epsilon
from epsilond.accountants.curve.enclosure import Interval
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

LARGEST_LOCAL_EPSILON = 700.0
"""Largest ε₀ of a local guarantee, in nats; e^700 is still a double."""
_COARSE, _FINE = 24, 96
"""Number of ε₀ at which a guarantee is evaluated: in a first scan, and then in the range that matters."""
_LARGEST_LOG_DELTA, _DEEPEST = -2.0, -745.0
"""Largest log δ₀ that is of use, and the log δ₀ below which δ₀ is below every double."""
OFFSETS = np.asarray([-1.0, -0.5, 0.0, 0.5, 1.0])
"""Offsets of the points of a refinement in log ε₀, relative to the largest offset."""
POINTS_KEPT, CLONES_KEPT = 8, 48
"""Number of local guarantees and of clone pairs that are stored."""


class LocalPoints(NamedTuple):
    """Points (ε₀, δ₀) of a local guarantee: increasing ε₀ in nats, and an upper bound on log δ₀ at each."""

    epsilon: FloatArray
    log_delta: FloatArray


@dataclass(frozen=True)
class LocalCurve:
    """The points (ε₀, δ₀) of a local guarantee, which is the guarantee of a single report for every two inputs.

    A guarantee with δ₀ = 0 at some ε₀ ≤ 700 is a single point with log δ₀ = −∞.

    Attributes:
        pair: dominating pair of a single report.
    """

    pair: Pair

    @cached_property
    def points(self) -> LocalPoints:
        """Increasing ε₀, and upper bounds on log δ₀ at them."""
        return _gaussian_points(self.pair) if self.pair.gaussian_dp_mu else self._evaluate_points()

    def _evaluate_points(self) -> LocalPoints:
        """Return points (ε₀, log δ₀) of the local guarantee of a report, or the one point of a pure guarantee (δ₀ = 0).

        A scan of few ε₀ finds the range in which δ₀ is neither useless (`_LARGEST_LOG_DELTA`) nor zero as a double
        (`_DEEPEST`). The points are in that range, with increasing ε₀.
        """
        is_pure = math.isinf(self.pair.log_delta_bounds(LARGEST_LOCAL_EPSILON).upper)
        if is_pure:
            pure_epsilon = upper_epsilon(lambda epsilon: self.pair.log_delta_bounds(epsilon).upper, -1e300)  # δ₀ = 0
            return LocalPoints(np.asarray([pure_epsilon]), np.asarray([-np.inf]))
        scanned = np.geomspace(1e-6, LARGEST_LOCAL_EPSILON, _COARSE)
        log_delta = self.pair.log_delta(scanned).upper
        useful = np.flatnonzero((log_delta < _LARGEST_LOG_DELTA) & (log_delta > _DEEPEST))
        if useful.size == 0:
            return LocalPoints(scanned, log_delta)
        # One more point of the scan on each side, because the range may end between two of them.
        first = max(int(useful[0]) - 1, 0)
        last = min(int(useful[-1]) + 1, _COARSE - 1)
        epsilon = np.geomspace(scanned[first], scanned[last], _FINE)
        return LocalPoints(epsilon, self.pair.log_delta(epsilon).upper)

    def rough_lower_bound(self, epsilon: float) -> float:
        """Return log δ₀ at the next larger point of the guarantee, as a rough lower bound on log δ₀ at ε.

        It is −∞ beyond the last point. It decides only which bounds are evaluated, and does not enter any bound.
        """
        points, log_delta = self.points
        following = int(np.searchsorted(points, epsilon))
        return float(log_delta[following]) if following < points.size else -math.inf

    def estimate(self, epsilon: FloatArray) -> FloatArray:
        """Estimate log δ₀ at several ε by interpolation between the points.

        The estimate is too low below the first point. For a pure guarantee of ε₀ it is 0 below ε₀ and −∞ from ε₀ on.
        """
        points, log_delta = self.points
        if points.size == 1:
            return np.where(epsilon < points[0], 0.0, -np.inf)
        return np.asarray(np.interp(epsilon, points, log_delta))

    @property
    def log_step(self) -> float:
        """Mean spacing of the points in log ε₀."""
        points = self.points.epsilon
        return math.log(points[-1] / points[0]) / max(points.size - 1, 1)

    def spread_points(self, log_centres: FloatArray, largest_offset: float) -> FloatArray:
        """Return five values of ε₀ around each centre, within the range of the tabulated local guarantee.

        Args:
            log_centres: log ε₀ of the centres.
            largest_offset: largest offset in log ε₀ from a centre.

        Returns:
            A row of five ε₀ for each centre.
        """
        points = self.points.epsilon
        return np.clip(np.exp(log_centres[:, None] + largest_offset * OFFSETS), points[0], points[-1])

    @property
    def pure_epsilon(self) -> float:
        """ε₀ in nats if δ₀ = 0 there, otherwise math.inf."""
        epsilon, log_delta = self.points
        return float(epsilon[0]) if np.isneginf(log_delta).all() else math.inf


@functools.lru_cache(POINTS_KEPT)
def _gaussian_points(pair: Pair) -> LocalPoints:
    """Return the points of a Gaussian guarantee. They are stored for the several bounds of one account."""
    return LocalCurve(pair)._evaluate_points()  # noqa: SLF001


def log_distance(clients: int, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """Return the log total variation distance of (ε₀, δ₀) reports from the clone bound's reports with δ₀ = 0.

    It is sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀ with s = 1/(1 + e^ε₀), rounded up.

    Args:
        clients: number n of clients.
        epsilon: ε₀ of one report, in nats.
        log_delta: log δ₀ of one report.
    """
    s = 1.0 / (1.0 + np.exp(epsilon))
    log_factor = np.log(s + (clients - 1) * np.exp(-epsilon) * (1.0 + s))
    upper_log_delta = log_delta * (1.0 - 4.0 * UNIT_ROUNDOFF)  # towards 0; −∞ stays
    rounding = UNIT_ROUNDOFF * (16.0 + 4.0 * np.abs(log_factor))
    return np.asarray(upper_log_delta + log_factor + rounding)


EVERY = slice(None)
"""Slice of all points."""
_AROUND = 4
"""Number of points on either side of the last best one that are compared at the next ε."""
_CHOICES = 96
"""Number of ε₀ per factor of two: fixed values, so that tables of different noises share them."""


def neighbourhood(index: int, size: int) -> slice:
    """Return the slice of a few points on either side of a point.

    Args:
        index: index of the point.
        size: number of all points.
    """
    return slice(max(index - _AROUND, 0), min(index + _AROUND + 1, size))


Choice = TypeVar("Choice")


@dataclass
class SequentialUpper(Generic[Choice]):
    """Upper bounds on log δ at increasing ε. Each search for the best clone pair starts near that of the previous ε.

    Attributes:
        choose: function from ε and the previous choice (None at the first ε) to the index of the clone pair to use.
        evaluate: function from a choice and ε to an upper bound on log δ(ε).
        previous: the choice at the previous ε.
    """

    choose: Callable[[float, Choice | None], Choice]
    evaluate: Callable[[Choice, float], float]
    previous: Choice | None = None

    def __call__(self, epsilon: float) -> float:
        """Return an upper bound on log δ at an ε that is not below the previous one."""
        choice = self.choose(epsilon, self.previous)
        self.previous = choice
        return self.evaluate(choice, epsilon)


@dataclass(frozen=True)
class LocalClonesBound(ScaledBound):
    """The bound on log δ of shuffled reports by the best clone pair at each ε; never above the local guarantee.

    A local guarantee is that of a single report. Each of its points (ε₀, δ₀) gives a clone pair, which bounds δ after
    shuffling (see `ClonesBound`).

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
        return self.local.pure_epsilon

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

    def sequential_upper(self) -> SequentialUpper[int]:
        """Return `upper` for calls with increasing ε; each call searches near the best point of the previous one."""
        return SequentialUpper(self._best, self._upper_at)

    def _upper_at(self, index: int, epsilon: float) -> float:
        """Return an upper bound on log δ(ε) by clones, or that of a single report if it is lower.

        The bound of a single report is computed only if it may be the lower one.

        Args:
            index: index of the point (ε₀, δ₀) that gives the clone bound.
            epsilon: ε, in nats.
        """
        bound = self._clones(index).upper(epsilon)
        if self.local.rough_lower_bound(epsilon) > bound:
            return bound
        return min(bound, self.local.pair.log_delta_bounds(epsilon).upper)

    def _best(self, epsilon: float, previous: int | None = None) -> int:
        """Return the index of the point (ε₀, δ₀) with the least estimate of the clone bound at ε.

        Args:
            epsilon: ε, in nats.
            previous: index of the best point at a slightly smaller ε. Only its neighbours are compared then.
        """
        local, log_delta = self.local.points
        candidates = EVERY if previous is None else neighbourhood(previous, local.size)
        estimates = self._estimate(epsilon, local[candidates], log_delta[candidates])
        return int(np.argmin(estimates)) + (candidates.start or 0)

    def _estimate(self, epsilon: FloatArray | float, local: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Estimate log δ(ε) of the shuffled reports by the clone bounds of some points (ε₀, δ₀) of the local guarantee.

        Args:
            epsilon: ε, in nats. Arrays are broadcast.
            local: ε₀ of the points.
            log_delta: log δ₀ of the points.
        """
        main = estimate_clones(epsilon, local, -local, self.clients)
        charge = log_distance(self.clients, local, log_delta) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(main, charge))

    def rows(self) -> Rows:
        """Return increasing ε with certified upper bounds on log δ, from a table.

        Gaussian reports with nearly the same noise share a table, which is stored. For other reports a table is made.
        """
        representative = cell_representative(self.local.pair)
        make_table = _stored_table if representative.gaussian_dp_mu else _make_table
        local, table = make_table(self.clients, representative, self.coarse)
        return table.rows(self._costs(local))

    def _costs(self, local: FloatArray) -> Costs:
        """Return the terms of a table that depend on the noise: distances, and the bound without shuffling.

        Args:
            local: ε₀ of each clone pair; the distance is that from idealised reports with δ₀ = 0.
        """

        def log_delta_without_shuffling(epsilon: FloatArray) -> FloatArray:
            """Return an upper bound on log δ of a single report."""
            return self.local.pair.log_delta(epsilon).upper

        distance = log_distance(self.clients, local, log_delta_without_shuffling(local))
        return Costs(distance, log_delta_without_shuffling)

    def plan(self) -> tuple[FloatArray, Table]:
        """Return a table of upper bounds on log δ of shuffled reports, with the clone pair that bounds δ at each ε.

        Returns:
            The values of ε₀ for the clone pairs of the table, and the table.
        """
        epsilon = self._row_candidates()
        unshuffled = self.local.estimate(epsilon)
        local, log_delta = self._dense_points(epsilon, unshuffled)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates = Estimates(epsilon, self._estimate(epsilon[:, None], local, log_delta), unshuffled)

        def upper_bounds(choice: int, epsilons: FloatArray) -> FloatArray:
            """Return upper bounds on log δ of the clone pair with index `choice`."""
            return _clone_pair(self.clients, float(local[choice])).upper_bounds(epsilons)

        used, table = plan_table(estimates, upper_bounds, self._costs(local), coarse=self.coarse).compact()
        return local[used], table

    def _row_candidates(self) -> FloatArray:
        """Return increasing ε at which log δ is estimated, at the scale of the shuffled privacy loss.

        Its standard deviation for the clone pair of ε₀ is about 2 tanh(ε₀/2)/√((n − 1) e^{−ε₀} + 1).
        """
        local, log_delta = self.local.points
        best = float(local[int(np.argmin(self._estimate(0.0, local, log_delta)))])
        scale = 2.0 * math.tanh(0.5 * best) / math.sqrt((self.clients - 1) * math.exp(-best) + 1.0)
        return epsilon_grid(scale, float(local[-1]))

    def _dense_points(self, epsilon: FloatArray, unshuffled: FloatArray) -> LocalPoints:
        """Return closely spaced points (ε₀, δ₀) of the local guarantee, in the range that has the best ones.

        Args:
            epsilon: increasing ε at which the points are compared. Every third one is used.
            unshuffled: estimate of log δ without shuffling at each ε. Where it is lower, no clone pair is needed.
        """
        points = self.local.points
        if points.epsilon.size == 1:
            return points
        sparse = slice(None, None, 3)
        estimates = self._estimate(epsilon[sparse, None], *points)
        is_needed = estimates.min(axis=1) < unshuffled[sparse] + 1.0
        best = np.argmin(estimates, axis=1)[is_needed]
        if best.size == 0:
            return points
        least = points.epsilon[max(int(best.min()) - 1, 0)]
        largest = points.epsilon[min(int(best.max()) + 1, points.epsilon.size - 1)]
        # Dense ε₀ are powers of 2^(1/_CHOICES), so that they do not depend on the range.
        first_power, last_power = round(_CHOICES * math.log2(least)), round(_CHOICES * math.log2(largest))
        dense = np.exp2(np.arange(first_power, last_power + 1) / _CHOICES)
        return LocalPoints(dense, self.local.pair.log_delta(dense).upper)

    def _clones(self, index: int) -> ClonesBound:
        """Return the bound on δ by clones for one point of the local guarantee. It is made once and stored.

        Args:
            index: index of the point (ε₀, δ₀).
        """
        if index not in self._clone_bounds:
            epsilon, log_delta = (float(column[index]) for column in self.local.points)
            distance = float(log_distance(self.clients, np.asarray(epsilon), np.asarray(log_delta)))
            self._clone_bounds[index] = ClonesBound(self.clients, math.exp(-epsilon), epsilon, distance)
        return self._clone_bounds[index]


def _make_table(clients: int, pair: Pair, coarse: bool) -> tuple[FloatArray, Table]:
    """Return the values of ε₀ of the clone pairs of the table for a local guarantee, and the table.

    Args:
        clients: number n of clients.
        pair: dominating pair of a single report.
        coarse: whether the table has fewer rows, for a search.
    """
    return LocalClonesBound(clients, LocalCurve(pair), coarse).plan()


_stored_table = functools.lru_cache(TABLES_KEPT)(_make_table)


@functools.lru_cache(CLONES_KEPT)
def _clone_pair(clients: int, local: float) -> ClonesBound:
    """Return the bound of the clone pair of (ε₀, 0). It is stored because its distribution of clones is expensive."""
    return ClonesBound(clients, math.exp(-local), local)
