"""The bound of a shuffled mechanism by clone pairs, from its local guarantee only, at the best (ε₀, δ₀).

A local randomizer that is (ε₀, δ₀) for every two inputs is near one with δ₀ = 0. With s = 1/(1 + e^{ε₀}),

 - the victim's two distributions R₀, R₁ are within sδ₀, in total variation, of two that are ε₀-indistinguishable;
 - every other client's distribution is e^{−ε₀} H' + (1 − e^{−ε₀}) G for some G, with H' within δ₀ of (R₀ + R₁)/2.

So the reports of either data set are within sδ₀ + (n − 1) e^{−ε₀} (1 + s) δ₀ of the clone pair, the reports with
δ₀ = 0 (docs/shuffling.md). A distance of t adds (1 + e^ε) t to δ. A local guarantee is a curve, so ε₀ may be chosen
freely. At every ε, the one that is estimated to be best is used.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimate_clones
from epsilond.accountants.theorems.shuffling.local_curve import (
    LocalCurve,
    LocalPoints,
    cell_representative,
    log_distance,
)
from epsilond.accountants.theorems.shuffling.planned_rows import TABLES_KEPT, Costs, Estimates, epsilon_grid, plan_table
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import Rows, Table

CLONES_KEPT = 48
"""Number of clone pairs that are stored."""


EVERY = slice(None)
"""Slice of all points."""
_AROUND = 4
"""Number of points on either side of the last best one that are compared at the next ε."""
_CHOICES = 96
"""Number of ε₀ per factor of two: fixed values, so that tables of different noises share them."""


def neighbourhood(index: int, size: int) -> slice:
    """Return the index range of a point and a few neighbours on either side.

    Args:
        index: index of the point.
        size: number of all points.

    Returns:
        The slice of up to `_AROUND` points before the point, the point itself, and as many after it.
    """
    return slice(max(index - _AROUND, 0), min(index + _AROUND + 1, size))


Choice = TypeVar("Choice")


@dataclass
class SequentialUpper(Generic[Choice]):
    """Upper bounds on log δ at increasing ε, by clone bounds with a parameter that is chosen for each ε.

    Each search for the best parameter starts near that of the previous ε.

    Attributes:
        choose: function from ε and the previous choice (None at the first ε) to the parameter to use, such as the index
            of a clone pair.
        evaluate: function from a choice and ε to an upper bound on log δ(ε).
        previous: the choice at the previous ε.
    """

    choose: Callable[[float, Choice | None], Choice]
    evaluate: Callable[[Choice, float], float]
    previous: Choice | None = None

    def __call__(self, epsilon: float) -> float:
        """Return an upper bound on log δ at an ε that is not below the previous one.

        Args:
            epsilon: ε, in nats.

        Returns:
            The natural logarithm of the bound.
        """
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
        """Enclose log δ(ε) of shuffled reports by the clone bound at the local ε₀ that seems best.

        The clone bound hides a report among others that look like it, the clones. The guarantee of a report without
        shuffling replaces it where it is lower.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm. The upper bound is valid for every choice of the clone
            pair.
        """
        local = self.local.pair.log_delta_bounds(epsilon)
        clones = self._clones(self._best(epsilon)).log_bound(epsilon)
        upper = min(clones.upper, local.upper)
        return Interval(min(clones.lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return a cheap upper bound on log δ(ε) of shuffled reports, by the clone bound at the ε₀ that seems best.

        The guarantee of a single report replaces it where it is lower.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound.
        """
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

        Returns:
            The natural logarithm of the bound.
        """
        bound = self._clones(index).upper(epsilon)
        if self.local.rough_lower_bound(epsilon) > bound:
            return bound
        return min(bound, self.local.pair.log_delta_bounds(epsilon).upper)

    def _best(self, epsilon: float, previous: int | None = None) -> int:
        """Choose the point (ε₀, δ₀) of the local guarantee with the least estimate of the clone bound at ε.

        Args:
            epsilon: ε, in nats.
            previous: index of the best point at a slightly smaller ε. Only its neighbours are compared then.

        Returns:
            Index of the point.
        """
        local, log_delta = self.local.points
        candidates = EVERY
        if previous is not None:
            candidates = neighbourhood(previous, local.size)
        estimates = self._estimate(epsilon, local[candidates], log_delta[candidates])
        first_candidate = candidates.start or 0
        return first_candidate + int(np.argmin(estimates))  # an index among all points

    def _estimate(self, epsilon: FloatArray | float, local: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Estimate log δ(ε) of shuffled reports from some points (ε₀, δ₀) of the guarantee of a single report.

        Each point gives a bound for idealised reports with δ₀ = 0, among which each other client sends a report like
        the victim's with probability e^−ε₀. The real reports are within a total variation distance t of these, which
        adds (1 + e^ε) t.

        Args:
            epsilon: ε, in nats. Arrays are broadcast.
            local: ε₀ of the points, in nats.
            log_delta: log δ₀ of the points.

        Returns:
            One natural logarithm for each combination of an ε and a point.
        """
        log_clones = estimate_clones(epsilon, local, -local, self.clients)
        log_addition = log_distance(self.clients, local, log_delta) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(log_clones, log_addition))

    def rows(self) -> Rows:
        """Return increasing ε with certified upper bounds on log δ, from a table.

        A table has bounds for idealised reports. Gaussian reports use the stored table for nearly the same noise, and
        for other reports a table is made. The terms that depend on the noise of these reports are then added.

        Returns:
            The values of ε in nats, and an upper bound on the natural logarithm of δ at each.
        """
        representative = cell_representative(self.local.pair)
        is_gaussian = bool(representative.gaussian_dp_mu)
        if is_gaussian:
            local, table = _stored_table(self.clients, representative, self.coarse)
        else:
            local, table = _make_table(self.clients, representative, self.coarse)
        return table.rows(self._costs(local))

    def _costs(self, local: FloatArray) -> Costs:
        """Return the terms of a table of bounds on δ that depend on the noise of the reports.

        They are the distance of the reports from idealised ones with δ₀ = 0, for each local ε₀, and the bound without
        shuffling.

        Args:
            local: values of the local ε₀; each gives a clone pair, a bound that hides a report among similar ones.

        Returns:
            The log distance of each clone pair, and a function for the bound without shuffling.
        """

        def log_delta_without_shuffling(epsilon: FloatArray) -> FloatArray:
            """Return an upper bound on log δ of a single report."""
            return self.local.pair.log_delta(epsilon).upper

        distance = log_distance(self.clients, local, log_delta_without_shuffling(local))
        return Costs(distance, log_delta_without_shuffling)

    def plan(self) -> tuple[FloatArray, Table]:
        """Compute a table of upper bounds on log δ of shuffled reports at chosen values of ε.

        Each point (ε₀, δ₀) of the local guarantee gives a clone pair: two distributions of shuffled reports, in which a
        report is hidden among others that look like it. A clone pair bounds δ. Estimates decide which one is evaluated
        at which ε.

        Returns:
            The values of ε₀ for the clone pairs of the table, and the table.
        """
        # Estimates of log δ at candidate ε, for each ε₀.
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
        """Return increasing ε at which log δ is estimated, at the scale of the privacy loss of shuffled reports.

        For reports of the local ε₀, the standard deviation of this loss is about 2 tanh(ε₀/2)/√((n − 1) e^{−ε₀} + 1).
        The ε₀ is the best one at ε = 0.

        Returns:
            The values of ε in nats, from 0 to the last point of the local guarantee.
        """
        local, log_delta = self.local.points
        estimates_at_zero = self._estimate(0.0, local, log_delta)
        best = float(local[int(np.argmin(estimates_at_zero))])
        mean_group = (self.clients - 1) * math.exp(-best) + 1.0
        scale = 2.0 * math.tanh(0.5 * best) / math.sqrt(mean_group)
        return epsilon_grid(scale, float(local[-1]))

    def _dense_points(self, epsilon: FloatArray, unshuffled: FloatArray) -> LocalPoints:
        """Return closely spaced points (ε₀, δ₀) of the local guarantee, in the range that has the best ones.

        Args:
            epsilon: increasing ε at which the points are compared. Every third one is used.
            unshuffled: estimate of log δ without shuffling at each ε. Where it is lower, shuffling is not used.

        Returns:
            The points with increasing ε₀. They are those of the guarantee if it has one point, or if shuffling helps at
            no ε.
        """
        points = self.local.points
        if points.epsilon.size == 1:
            return points

        # The points that are best at some ε where shuffling may help.
        sparse = slice(None, None, 3)
        estimates = self._estimate(epsilon[sparse, None], *points)
        is_needed = estimates.min(axis=1) < unshuffled[sparse] + 1.0
        best = np.argmin(estimates, axis=1)[is_needed]
        if best.size == 0:
            return points

        # Their range, with one more point on each side.
        last_index = points.epsilon.size - 1
        least = points.epsilon[max(int(best.min()) - 1, 0)]
        largest = points.epsilon[min(int(best.max()) + 1, last_index)]

        # Dense ε₀ are powers of 2^(1/_CHOICES), so that they do not depend on the range.
        first_power, last_power = round(_CHOICES * math.log2(least)), round(_CHOICES * math.log2(largest))
        dense = np.exp2(np.arange(first_power, last_power + 1) / _CHOICES)
        return LocalPoints(dense, self.local.pair.log_delta(dense).upper)

    def _clones(self, index: int) -> ClonesBound:
        """Return the bound on δ by clones for one point of the local guarantee. It is made once and stored.

        Args:
            index: index of the point (ε₀, δ₀).

        Returns:
            The bound for this ε₀, with the distance of the real reports from those with δ₀ = 0.
        """
        if index not in self._clone_bounds:
            epsilon, log_delta = (float(column[index]) for column in self.local.points)
            distance = float(log_distance(self.clients, np.asarray(epsilon), np.asarray(log_delta)))
            clone_rate = math.exp(-epsilon)
            self._clone_bounds[index] = ClonesBound(self.clients, clone_rate, epsilon, distance)
        return self._clone_bounds[index]


def _make_table(clients: int, pair: Pair, coarse: bool) -> tuple[FloatArray, Table]:
    """Make the table of upper bounds on log δ of shuffled reports for a local guarantee.

    Args:
        clients: number n of clients.
        pair: dominating pair of a single report, two distributions with a hockey-stick divergence that bounds δ.
        coarse: whether the table has bounds at fewer ε, for a search.

    Returns:
        The values of ε₀ of the clone pairs of the table, and the table.
    """
    return LocalClonesBound(clients, LocalCurve(pair), coarse).plan()


_stored_table = functools.lru_cache(TABLES_KEPT)(_make_table)


@functools.lru_cache(CLONES_KEPT)
def _clone_pair(clients: int, local: float) -> ClonesBound:
    """Return the clone bound on δ of shuffled reports that are purely ε₀-private (δ₀ = 0).

    A clone is a report that looks like the victim's. The bound is stored because its distribution of the number of
    clones is expensive.

    Args:
        clients: number n of clients.
        local: ε₀ of the report, in nats. Another report is a clone with probability e^−ε₀.

    Returns:
        The bound, without a distance of real reports from the idealised ones.
    """
    return ClonesBound(clients, math.exp(-local), local)
