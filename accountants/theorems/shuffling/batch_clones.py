"""Clone pairs for a record that its client samples: a victim with one local guarantee, among clients with another.

The other bounds of a shuffled round concern a client's whole contribution, with a norm of at most K times that of a
record. Replacing a record moves one report by at most two records' norms, but the other reports may be arbitrary. So
the clone pair has the record's ε₀ for the victim, and the client's ε₁ for the probability that another report is its
clone. Proof: docs/shuffling.md, Batches.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.clones import ClonesBound, estimate_clones
from epsilond.accountants.theorems.shuffling.local_curve import ClonePairs, LocalCurve, PointPairs, cell_representative
from epsilond.accountants.theorems.shuffling.local_guarantee import EVERY, SequentialUpper, neighbourhood
from epsilond.accountants.theorems.shuffling.planned_rows import TABLES_KEPT, Costs, Estimates, epsilon_grid, plan_table
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import IntArray, Rows, Table

_STRIDE = 4
"""Stride of the first scan, in points of the guarantees and in ε; it makes the scan 64 times cheaper."""
_ROUNDS = 5
"""Number of refinements after the scan. Each halves the distance between compared points."""
_INTERPOLATED = 96
"""Number of clone pairs that are interpolated between the best ones."""


class _Grid(NamedTuple):
    """Parameters of the clone bound on shuffled reports, for all combinations of two privacy guarantees of a report.

    The victim is the client with the protected record. Its report is (ε₀, δ₀)-private for this record. The report of
    another client is (ε₁, δ₁)-private for the client's whole contribution. A clone is another report that has the
    distribution of the victim's. Each array has a row for each (ε₀, δ₀) and a column for each (ε₁, δ₁), or can be
    broadcast to this shape.

    Attributes:
        victim: ε₀, in nats.
        log_share: natural logarithm −ε₁ of the probability that another report is a clone.
        log_distance: natural logarithm of the total variation distance of the reports from reports with δ₀ = δ₁ = 0.
    """

    victim: FloatArray
    log_share: FloatArray
    log_distance: FloatArray


@dataclass(frozen=True)
class BatchClonesBound(ScaledBound):
    """The bound by the best clone pair for a victim with one local guarantee among clients with another one.

    One record of the victim changes. A local guarantee is that of a single report, a curve of points. The points are
    (ε₀, δ₀) for the victim's record and (ε₁, δ₁) for the whole contribution of another client.

    Attributes:
        clients: number m of clients, the victim included.
        victim: local guarantee of one record.
        crowd_curve: local guarantee of a client's whole contribution.
        coarse: whether tables have fewer rows, for a search.

    Guarantees: a valid bound for every choice of points; the choice is by an estimate.
    """

    clients: int
    victim: LocalCurve
    crowd_curve: LocalCurve
    coarse: bool = False
    _clone_bounds: dict[tuple[int, int], ClonesBound] = field(default_factory=dict, repr=False, compare=False)

    @property
    def lossy(self) -> bool:
        """True for Gaussian reports, which have δ > 0 at ε = 0."""
        return self.victim.pair.gaussian_dp_mu is not None

    def log_bound(self, epsilon: float) -> Interval:
        """Bound log δ(ε) of shuffled reports by the best clone bound, or that of the victim's report if it is lower.

        The clone bound uses that other reports, the clones, may have the distribution of the victim's report.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            Lower and upper bounds on the natural logarithm. The upper bound is valid for every choice of clones.
        """
        local = self.victim.pair.log_delta_bounds(epsilon)
        best_points = self._best(epsilon)
        clones = self._clones(best_points).log_bound(epsilon)
        upper = min(clones.upper, local.upper)
        return Interval(min(clones.lower, local.lower, upper), upper)

    def upper(self, epsilon: float) -> float:
        """Return a cheap upper bound on log δ, from the clone pair that seems best at ε and the local guarantee.

        Args:
            epsilon: ε ≥ 0, in nats.
        """
        return self._upper_at(self._best(epsilon), epsilon)

    def sequential_upper(self) -> SequentialUpper[tuple[int, int]]:
        """Return `upper` for calls with increasing ε; each call searches near the best points of the previous one."""
        return SequentialUpper(self._best, self._upper_at)

    def rows(self) -> Rows:
        """Return increasing ε with certified upper bounds on log δ of the shuffled reports, as a table.

        Gaussian reports with nearly the same noise share a stored table. For other reports a table is computed.

        Returns:
            The values of ε in nats, and an upper bound on log δ at each.
        """
        victim = cell_representative(self.victim.pair)
        crowd = cell_representative(self.crowd_curve.pair)
        if victim.gaussian_dp_mu and crowd.gaussian_dp_mu:
            pairs, table = _stored_table(self.clients, victim, crowd, self.coarse)
        else:
            pairs, table = _make_table(self.clients, victim, crowd, self.coarse)
        return table.rows(self._costs(pairs))

    def _costs(self, pairs: ClonePairs) -> Costs:
        """Return the terms of a table of bounds on δ that depend on the noise of the reports.

        The victim's report is (ε₀, δ₀)-private, and the others are (ε₁, δ₁)-private. The terms are the total variation
        distance from reports with δ₀ = δ₁ = 0, and the bound without shuffling.

        Args:
            pairs: ε₀ of the victim's report and ε₁ of another report, for each bound of the table.

        Returns:
            The log distance for each ε₀ and ε₁, and a function that returns the bound on log δ at ε without shuffling.
        """

        def log_delta_without_shuffling(epsilon: FloatArray) -> FloatArray:
            """Return an upper bound on log δ of the victim's single report."""
            return self.victim.pair.log_delta(epsilon).upper

        log_delta = log_delta_without_shuffling(pairs.victim)
        log_crowd = self.crowd_curve.pair.log_delta(pairs.crowd).upper
        distance = self._log_distance(PointPairs(pairs.victim, log_delta, pairs.crowd, log_crowd))
        return Costs(np.asarray(distance), log_delta_without_shuffling)

    def plan(self) -> tuple[ClonePairs, Table]:
        """Compute a table of upper bounds on log δ of shuffled reports at increasing ε.

        Each bound is for idealised reports: the victim's with δ₀ = 0 at some ε₀, and other reports that look like it,
        as clones, with probability e^−ε₁. A term for the distance of the real reports is added.

        Returns:
            ε₀ and ε₁ of the bounds in the table, and the table.
        """
        # The least estimate of δ(0) has the order of magnitude of the privacy loss. The grid of ε is scaled to it.
        scale = math.exp(float(self._estimate(0.0, self._points()).min()))
        epsilon = epsilon_grid(scale, float(self.victim.points.epsilon[-1]))
        pairs = self._find_pairs(epsilon)
        costs = self._costs(pairs)

        # The estimate is δ(ε) of the clones plus (1 + e^ε) t, for the distance t of the reports from ideal ones.
        log_clones = estimate_clones(epsilon[:, None], pairs.victim, -pairs.crowd, self.clients)
        log_addition = costs.log_distance + np.logaddexp(0.0, epsilon)[:, None]
        log_delta = np.asarray(np.logaddexp(log_clones, log_addition))
        estimates = Estimates(epsilon, log_delta, self.victim.estimate(epsilon))

        @functools.cache
        def bound_of(choice: int) -> ClonesBound:
            """Return the bound by clones for the ε₀ and ε₁ with index `choice`."""
            victim, crowd = float(pairs.victim[choice]), float(pairs.crowd[choice])
            return ClonesBound(self.clients, math.exp(-crowd), victim)

        def upper_bounds(choice: int, epsilons: FloatArray) -> FloatArray:
            """Return upper bounds on log δ for the ε₀ and ε₁ with index `choice`."""
            return bound_of(choice).upper_bounds(epsilons)

        used, table = plan_table(estimates, upper_bounds, costs, coarse=self.coarse).compact()
        return ClonePairs(pairs.victim[used], pairs.crowd[used]), table

    def _find_pairs(self, epsilon: FloatArray) -> ClonePairs:
        """Search for privacy parameters (ε₀, ε₁) of single reports with about the least bound on δ at each ε.

        ε₀ is for the victim's report, and ε₁ for the other reports, the crowd. A scan of a coarse grid gives the best
        combinations at every fourth ε (`_STRIDE`). Each of `_ROUNDS` refinements compares combinations around the best
        one, at half the distance of the previous refinement.

        Args:
            epsilon: increasing ε, in nats.

        Returns:
            The combinations in the order of the values of ε that they suit, with `_INTERPOLATED` interpolated ones.
        """
        sparse = epsilon[::_STRIDE]
        best = self._scan(sparse)
        victim_offset = _STRIDE * self.victim.log_step
        crowd_offset = _STRIDE * self.crowd_curve.log_step
        for _ in range(_ROUNDS):
            best = self._refine(sparse, best, (victim_offset, crowd_offset))
            victim_offset *= 0.5
            crowd_offset *= 0.5
        return ClonePairs(_interpolate_ratios(best.victim), _interpolate_ratios(best.crowd))

    def _scan(self, epsilon: FloatArray) -> ClonePairs:
        """Return the combination (ε₀, ε₁) with the least estimate of δ at each ε, on a coarse grid.

        The grid has every `_STRIDE`-th point of the guarantee of the victim's report and of that of another report.

        Args:
            epsilon: increasing array of values of ε, in nats.
        """
        points = self._points()
        coarse_points = PointPairs(
            victim=points.victim[::_STRIDE],
            log_delta=points.log_delta[::_STRIDE],
            crowd=points.crowd[:, ::_STRIDE],
            log_crowd=points.log_crowd[:, ::_STRIDE],
        )
        rows, columns = _least_entries(self._estimate(epsilon[:, None, None], coarse_points))
        return ClonePairs(coarse_points.victim[rows, 0], coarse_points.crowd[0, columns])

    def _refine(self, epsilon: FloatArray, centres: ClonePairs, offsets: tuple[float, float]) -> ClonePairs:
        """Return the combination (ε₀, ε₁) with the least estimate of δ at each ε, among 25 around a given one.

        Args:
            epsilon: ε, in nats.
            centres: a combination (ε₀, ε₁) for each ε.
            offsets: largest offsets from the centre in log ε₀ and in log ε₁.

        Returns:
            One pair of ε₀ and ε₁ for each ε.
        """
        victim_offset, crowd_offset = offsets
        victim = self.victim.spread_points(np.log(centres.victim), victim_offset)
        crowd = self.crowd_curve.spread_points(np.log(centres.crowd), crowd_offset)
        # Every ε has a matrix of combinations: a row for each ε₀, and a column for each ε₁.
        points = PointPairs(
            victim=victim[:, :, None],
            log_delta=self.victim.estimate(victim)[:, :, None],
            crowd=crowd[:, None, :],
            log_crowd=self.crowd_curve.estimate(crowd)[:, None, :],
        )
        rows, columns = _least_entries(self._estimate(epsilon[:, None, None], points))
        each_epsilon = np.arange(epsilon.size)
        return ClonePairs(victim[each_epsilon, rows], crowd[each_epsilon, columns])

    def _estimate(self, epsilon: FloatArray | float, points: PointPairs) -> FloatArray:
        """Estimate log δ(ε) of the shuffled reports by clones, for some points of the guarantees of single reports.

        The estimate includes (1 + e^ε) t for the total variation distance t of the reports from ideal ones, which have
        δ₀ = δ₁ = 0.

        Args:
            epsilon: ε, in nats; arrays are broadcast with the points.
            points: guarantees (ε₀, δ₀) of the victim's report and (ε₁, δ₁) of another client's report.

        Returns:
            One natural logarithm for each combination of an ε and the points.
        """
        log_clones = estimate_clones(epsilon, points.victim, -points.crowd, self.clients)
        log_charge = self._log_distance(points) + np.logaddexp(0.0, epsilon)
        return np.asarray(np.logaddexp(log_clones, log_charge))

    def _upper_at(self, indices: tuple[int, int], epsilon: float) -> float:
        """Return an upper bound on log δ(ε) of the shuffled reports, the smaller one of two.

        The first is the bound by clones for two points of the guarantees of single reports. The second is δ(ε) of the
        victim's single report, without shuffling. It is computed only if it may be the smaller one.

        Args:
            indices: indices of the points (ε₀, δ₀) and (ε₁, δ₁).
            epsilon: ε, in nats.

        Returns:
            The natural logarithm of the bound.
        """
        bound = self._clones(indices).upper(epsilon)
        if self.victim.rough_lower_bound(epsilon) > bound:
            return bound
        return min(bound, self.victim.pair.log_delta_bounds(epsilon).upper)

    def _log_distance(self, points: PointPairs) -> FloatArray:
        """Return the log total variation distance of the reports from ideal ones with δ₀ = δ₁ = 0, rounded up.

        For m clients and s = 1/(1 + e^ε₀), the distance is at most:

            sδ₀ + (m − 1) e^−ε₁ (sδ₀ + δ₁).

        Args:
            points: guarantees (ε₀, δ₀) of the victim's report and (ε₁, δ₁) of another client's report.

        Returns:
            One natural logarithm for each point, or for each combination of points to which the arrays broadcast.
        """
        log_victim = points.log_delta - np.logaddexp(0.0, points.victim)  # log sδ₀
        log_other_clients = math.log(max(self.clients - 1, 1))
        log_crowd = log_other_clients - points.crowd + np.logaddexp(log_victim, points.log_crowd)
        total = np.logaddexp(log_victim, log_crowd)
        return total + 64 * UNIT_ROUNDOFF * (1.0 + np.abs(total))  # exceeds all rounding errors

    def _points(self) -> PointPairs:
        """Return the tabulated guarantees (ε, δ) of the victim's report and of another report, for all combinations.

        Returns:
            Arrays of shape (n₀, 1) for the victim, and of shape (1, n₁) for the other clients.
        """
        victim, crowd = self.victim.points, self.crowd_curve.points
        return PointPairs(
            victim=victim.epsilon[:, None],
            log_delta=victim.log_delta[:, None],
            crowd=crowd.epsilon[None, :],
            log_crowd=crowd.log_delta[None, :],
        )

    def _best(self, epsilon: float, previous: tuple[int, int] | None = None) -> tuple[int, int]:
        """Choose the guarantees (ε₀, δ₀) and (ε₁, δ₁) of single reports with the least estimate of δ at ε.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.
            previous: indices of the best points at a slightly smaller ε. If given, only their neighbours are compared.

        Returns:
            Index (row) for the client whose record is protected, and index (column) for any other client.
        """
        rows, columns = EVERY, EVERY
        if previous is not None:
            previous_row, previous_column = previous
            row_count, column_count = self._grid.log_distance.shape
            rows = neighbourhood(previous_row, row_count)
            columns = neighbourhood(previous_column, column_count)
        candidates = _Grid(*(array[rows, columns] for array in self._grid))
        log_clones = estimate_clones(epsilon, candidates.victim, candidates.log_share, self.clients)
        log_added_delta = candidates.log_distance + np.logaddexp(0.0, epsilon)  # distance t adds (1 + e^ε) t
        estimates = np.logaddexp(log_clones, log_added_delta)
        row, column = divmod(int(np.argmin(estimates)), estimates.shape[1])
        return row + (rows.start or 0), column + (columns.start or 0)

    @cached_property
    def _grid(self) -> _Grid:
        """The clone pairs of all points of both guarantees."""
        points = self._points()
        victim, log_share = np.broadcast_arrays(points.victim, -points.crowd)
        return _Grid(victim, log_share, self._log_distance(points))

    def _clones(self, indices: tuple[int, int]) -> ClonesBound:
        """Return the bound on δ by clones for one guarantee of the victim's report and one of another report.

        Clones are other reports distributed as the victim's. The bound is stored for later calls.

        Args:
            indices: indices of the points (ε₀, δ₀) and (ε₁, δ₁).
        """
        if indices not in self._clone_bounds:
            row, column = indices
            epsilon_victim, log_delta_victim = (values[row] for values in self.victim.points)
            epsilon_other, log_delta_other = (values[column] for values in self.crowd_curve.points)
            points = PointPairs(epsilon_victim, log_delta_victim, epsilon_other, log_delta_other)
            log_distance = float(self._log_distance(points))
            rate = math.exp(-float(epsilon_other))  # of clones
            self._clone_bounds[indices] = ClonesBound(self.clients, rate, float(epsilon_victim), log_distance)
        return self._clone_bounds[indices]


def _interpolate_ratios(values: FloatArray) -> FloatArray:
    """Return `_INTERPOLATED` values at evenly spaced places along positive values, interpolated linearly in the log."""
    places = np.linspace(0.0, values.size - 1.0, _INTERPOLATED)
    return np.exp(np.interp(places, np.arange(values.size), np.log(values)))


def _least_entries(estimates: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the row and the column of the least entry of each matrix of a stack."""
    matrices, _, columns = estimates.shape
    least = np.argmin(estimates.reshape(matrices, -1), axis=1)
    return least // columns, least % columns


def _make_table(clients: int, victim: Pair, crowd: Pair, coarse: bool) -> tuple[ClonePairs, Table]:
    """Compute a table of upper bounds on log δ(ε) of shuffled reports.

    A dominating pair is a pair of distributions with a hockey-stick divergence that bounds δ.

    Args:
        clients: number m of clients, the protected one included.
        victim: dominating pair of a report for one record.
        crowd: dominating pair of a report for a client's whole contribution.
        coarse: whether the table has bounds at fewer ε, for a search.

    Returns:
        The values of ε₀ and ε₁ that the bounds use, and the table.
    """
    return BatchClonesBound(clients, LocalCurve(victim), LocalCurve(crowd), coarse).plan()


_stored_table = functools.lru_cache(TABLES_KEPT)(_make_table)
