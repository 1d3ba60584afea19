"""δ of a released model by shifted interpolation followed by contraction, for a record at any place.

If the last use of a record is v steps before the release, θ_ε(μ_v) bounds δ, with μ_v of the best plan. The bound may
switch from distances to kernels at any step u ≤ v after the last use. Both runs share the kernels of the later steps.
The bound is the minimum over u of θ_ε(μ_u) θ_ε(r_c)^(v−u), with the same ε in both factors. u = 0 is contraction
without interpolation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR, NEGLIGIBLE, log_sum, theta_with_error
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.bound import Bound
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    CONVEX_LOSSES,
    FRESH_NOISE,
    LIPSCHITZ_LOSSES,
    PROJECTED,
    SMOOTH_LOSSES,
    log_contraction_bound,
)
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import BLOCK_RATIO, HIDDEN, periodic_mu

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.differing_steps import DifferingSteps

EXACT_PLACES = 4096
"""Number of places nearest to the release that are evaluated one by one; blocks follow."""
STAGE = 256
"""Number of nodes that are evaluated first; all nodes follow only if the others might matter."""
_BATCH = 2**14
"""Largest number of values of θ that are evaluated at once."""
SMALL_LOG_DELTA = -14.0
"""Value of log δ at which a convex bound is chosen, whose tails replace those of a bound that is not convex."""


@dataclass(frozen=True)
class RecordPlaces:
    """Places of the record in the order of the batches at which it is used equally often.

    Attributes:
        uses: number of steps that use the record.
        first: least v, the number of steps from the last use to the release.
        last: largest v.
        cap: limit on the number of places with the same v, which is min(cap, top − v).
        top: see `cap`.
    """

    uses: int
    first: int
    last: int
    cap: float = 1.0
    top: float = math.inf

    def before(self, v: FloatArray) -> FloatArray:
        """Return the number of places below v."""
        turn = max(float(self.first), min(self.last + 1.0, self.top - self.cap + 1.0))
        inside = np.clip(v, self.first, self.last + 1.0)
        number = np.maximum(inside - turn, 0.0)
        falling = number * (self.top - turn) - 0.5 * number * (number - 1.0) if math.isfinite(self.top) else 0.0
        return np.asarray(self.cap * (np.minimum(inside, turn) - self.first) + falling)

    @cached_property
    def nodes(self) -> FloatArray:
        """Values of v at which bounds are evaluated: all small ones, then the first v of each block."""
        exact = np.arange(min(self.last + 1, EXACT_PLACES), dtype=np.float64)
        if self.last < EXACT_PLACES:
            return exact
        octaves = math.log((self.last + 1.0) / EXACT_PLACES) / math.log(BLOCK_RATIO)
        blocks = np.floor(EXACT_PLACES * BLOCK_RATIO ** np.arange(math.ceil(octaves)))
        return np.unique(np.concatenate((exact, blocks[blocks <= self.last])))

    @cached_property
    def weights(self) -> FloatArray:
        """The number of places in each node's block."""
        ends = self.before(np.append(self.nodes, self.last + 1.0))
        return np.asarray(np.diff(ends))

    @cached_property
    def log_weights(self) -> FloatArray:
        """Logarithms of `weights`."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)


def places(run: ProjectedRun) -> tuple[tuple[RecordPlaces, ...], float]:
    """Return the places of a record in the order of the batches, for a run of equal steps.

    If the run is released at its end, l batches over T = E l + r steps give r places one use more than the others. If
    it is released at a random step τ of a single pass, a use at step j is v = τ − j steps before the release. In a
    known order only the worst place is returned: the one next to the release with most uses, or the one at the first
    step that may be released.

    Args:
        run: the run.

    Returns:
        The kinds of places, and the logarithm of the probability of one place.
    """
    cycles, extra = divmod(run.steps, run.period)
    if run.stops > 1:
        if run.known_order:
            return (RecordPlaces(1, 0, run.stops - 1),), -math.log(run.stops)
        kind = RecordPlaces(1, 0, run.steps - 1, cap=float(run.stops), top=float(run.steps))
        return (kind,), math.log(run.participants) - math.log(run.clients) - math.log(run.stops)
    if run.known_order:
        return (RecordPlaces(cycles + 1 if extra else cycles, 0, 0),), 0.0
    more = (RecordPlaces(cycles + 1, 0, extra - 1),) if extra else ()
    fewer = (RecordPlaces(cycles, extra, run.period - 1),) if cycles else ()
    return more + fewer, math.log(run.participants) - math.log(run.clients)


@dataclass(frozen=True)
class EqualSteps:
    """A run of equal steps with contraction c ≤ 1, released at its end or, in a single pass, at a random step."""

    run: ProjectedRun

    @cached_property
    def kinds(self) -> tuple[tuple[tuple[RecordPlaces, FloatArray], ...], float]:
        """Kinds of places of the record with μ at their nodes, and the log probability of one place."""
        run = self.run
        step = run.step_schedule.at(1, 1)
        (shift,), _ = run.shifts(1, 1)
        contraction = run.lipschitz_constant(step)
        assert contraction is not None
        noise = float(step[0]) * float(run.noise_schedule.at(1, 1)[0]) / math.sqrt(run.participants)
        kinds, share = places(run)
        listed = []
        for kind in kinds:
            mu = periodic_mu(
                uses=kind.uses,
                period=run.period,
                after=kind.nodes,
                contraction=float(contraction[0]),
                shift=float(shift),
                diameter=2.0 * run.radius / noise,
            )
            listed.append((kind, mu))
        return tuple(listed), share

    @property
    def single_mu(self) -> float | None:
        """μ if there is one place and one release only; None otherwise."""
        kinds, log_weight = self.kinds
        if len(kinds) > 1 or log_weight != 0.0:
            return None
        kind, mu = kinds[0]
        return float(mu[0]) if kind.last == 0 else None

    def log_bound(self, epsilon: float, *, contracted: bool, switch: float | None = None) -> Interval:
        """Enclose numerically the log of the bound on δ(ε): the weighted sum over the places of the record.

        Args:
            epsilon: ε ≥ 0.
            contracted: whether the steps later than u after the last use contract the divergence, each by a factor.
            switch: u for every ε. The result is then a sum of products of convex functions of e^ε, hence convex. If
                absent, the best u for this ε.
        """
        total = self._sums(*theta_with_error(epsilon, self._shifts(STAGE)), STAGE, contracted, switch)
        if total is None:
            total = self._sums(*theta_with_error(epsilon, self._shifts(None)), None, contracted, switch)
        assert total is not None
        return self._mean(total)

    def log_bounds(self, epsilons: FloatArray, *, contracted: bool, switch: float | None = None) -> list[Interval]:
        """Return the results of `log_bound` at many ε; θ is evaluated for several ε at once.

        Args:
            epsilons: values of ε ≥ 0.
            contracted: whether later steps contract the divergence; see `log_bound`.
            switch: number of steps after the last use from which they do; see `log_bound`.
        """
        shifts = self._shifts(STAGE)
        bounds: list[Interval] = []
        batch_size = max(_BATCH // shifts.size, 1)
        for start in range(0, epsilons.size, batch_size):
            batch = epsilons[start : start + batch_size]
            for epsilon, value, error in zip(batch.tolist(), *theta_with_error(batch[:, None], shifts), strict=True):
                total = self._sums(value, error, STAGE, contracted, switch)
                if total is None:
                    bounds.append(self.log_bound(epsilon, contracted=contracted, switch=switch))
                else:
                    bounds.append(self._mean(total))
        return bounds

    def _mean(self, total: Interval) -> Interval:
        """Return the sum over places times the weight of one place."""
        share = self.kinds[1]
        slack = 16 * UNIT_ROUNDOFF * (1.0 + abs(share)) + 1e-13
        return Interval(total.lower + share - slack, min(total.upper + share + slack, 0.0))

    def _shifts(self, first: int | None) -> FloatArray:
        """Return μ at the first nodes of every kind of place, and r_c."""
        return np.concatenate((*(mu[:first] for _, mu in self.kinds[0]), self._kernel))

    def _sums(
        self, value: FloatArray, error: FloatArray, most: int | None, contracted: bool, switch: float | None
    ) -> Interval | None:
        """Return the sum over the first nodes of every kind of place; None if the omitted nodes might matter.

        Args:
            value: log θ_ε at `_shifts`.
            error: bound on its error.
            most: number of nodes of each kind; None for all.
            contracted: whether later steps contract the divergence; see `log_bound`.
            switch: number of steps after the last use from which they do; see `log_bound`.
        """
        cuts = np.cumsum([0, *(mu[:most].size for _, mu in self.kinds[0])])
        kernel = (max(float(value[-1]), LEAST_LOG_FACTOR), float(error[-1])) if contracted else None
        total = Interval(-math.inf, -math.inf)
        for (kind, _), first, last in zip(self.kinds[0], cuts[:-1], cuts[1:], strict=True):
            bounds = _sum_over_places(kind, value[first:last], error[first:last], kernel, switch=switch)
            if bounds is None:
                return None
            lower = float(np.logaddexp(total.lower, bounds.lower))
            total = Interval(lower, float(np.logaddexp(total.upper, bounds.upper)))
        return total

    @cached_property
    def _kernel(self) -> FloatArray:
        """r_c of every step."""
        return self.run.shifts(1, 1)[1]


def _sum_over_places(
    kind: RecordPlaces,
    value: FloatArray,
    error: FloatArray,
    kernel: tuple[float, float] | None,
    *,
    switch: float | None,
) -> Interval | None:
    """Return bounds on log Σ weight θ_ε(μ_v) over the places of one kind; None if the omitted nodes might matter.

    With a contraction factor θ_c, θ_ε(μ_v) is replaced by the minimum over u of θ_ε(μ_u) θ_c^(v−u). The terms decrease
    in v. Hence the omitted terms are at most the first of them times their weight, which is added to the upper bound.

    Args:
        kind: the places.
        value: log θ_ε(μ_v) at the first nodes, or at all nodes. A node is a v at which θ is evaluated.
        error: bound on its error.
        kernel: log θ_c and its error; None if contraction is not counted.
        switch: u for all v and ε; None for the best u of each v.
    """
    v = kind.nodes[: value.size]
    if kernel is not None:
        factor, factor_error = kernel
        before = value - v * factor
        if switch is None:
            before = np.minimum.accumulate(before)
        else:
            last = int(np.searchsorted(v, switch, side="right")) - 1
            before = np.where(v > v[last], before[last], before)
        value = v * factor + before
        error = np.maximum.accumulate(error) + v * (factor_error + 4 * UNIT_ROUNDOFF * abs(factor))
    terms = value + kind.log_weights[: value.size]
    lower, upper = log_sum(terms - error), log_sum(terms + error)
    if value.size == kind.nodes.size:
        return Interval(lower, upper)
    omitted = float(value[-1] + error[-1]) + log_sum(kind.log_weights[value.size :])
    return Interval(lower, float(np.logaddexp(upper, omitted))) if omitted < lower - NEGLIGIBLE else None


# One ε at a time -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ContractionBound(Bound):
    """The bound by contraction: a use of the record, and a factor below 1 for each later step.

    It is a sum, or the maximum, of products of convex functions of e^ε, and so is convex itself.
    """

    run: ProjectedRun

    def log_bound(self, epsilon: float) -> Interval:
        """Return bounds on the log of the bound on δ."""
        return log_contraction_bound(epsilon, self.run)


@dataclass(frozen=True)
class InterpolationBound(Bound):
    """The bound by shifted interpolation with the best plan for every place of the record.

    Attributes:
        steps: the steps of the run.
        contracted: whether later steps also contract the divergence.
    """

    steps: EqualSteps | DifferingSteps
    contracted: bool

    @cached_property
    def convex(self) -> Bound:
        """A bound that is convex in e^ε: this bound, or one with contraction from a fixed step on.

        The step is the best one at an ε at which log δ is about `SMALL_LOG_DELTA`.
        """
        if not self.contracted:
            return self
        epsilon = 2.0**-10
        while self.log_bound(epsilon).upper > SMALL_LOG_DELTA and epsilon < LARGEST_EPSILON:
            epsilon *= 2.0
        choices: list[Bound] = [InterpolationBound(self.steps, contracted=False)]
        if isinstance(self.steps, EqualSteps):
            switches = (0.0, *(2.0**k for k in range(max(1, self.steps.run.period).bit_length())))
            choices += [SwitchedBound(self.steps, switch) for switch in switches]
        else:
            choices.append(ContractionBound(self.steps.run))
        return min(choices, key=lambda choice: choice.log_bound(epsilon).upper)

    def log_bound(self, epsilon: float) -> Interval:
        """Return bounds on the log of the bound on δ."""
        return self.steps.log_bound(epsilon, contracted=self.contracted)

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Return the results of `log_bound` at many ε."""
        if isinstance(self.steps, EqualSteps):
            return self.steps.log_bounds(epsilons, contracted=self.contracted)
        return [self.log_bound(epsilon) for epsilon in epsilons.tolist()]


@dataclass(frozen=True)
class SwitchedBound(Bound):
    """Shifted interpolation up to `switch` steps after the last use of the record, followed by contraction."""

    steps: EqualSteps
    switch: float

    def log_bound(self, epsilon: float) -> Interval:
        """Return bounds on the log of the bound on δ."""
        return self.steps.log_bound(epsilon, contracted=True, switch=self.switch)

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Return the results of `log_bound` at many ε."""
        return self.steps.log_bounds(epsilons, contracted=True, switch=self.switch)


HYBRID = Theorem(
    id="epsilond.shift-then-contract",
    title="Shifted interpolation, then contraction",
    statement=(
        "The minimum is over every τ from the last use on: δ(ε) ≤ min_τ θ_ε(μ_τ) Π_{k>τ} θ_ε(D_k √m/(η_k "
        "σ_k)). Here μ_τ is from shifted interpolation of the first τ steps. The diameter of step k's image is "
        "D_k"
    ),
    source=Source("epsilond", "asoodeh.lemma-2 after epsilond.shifted-interpolation"),
    status=Status.PROVED,
    conditions=(LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, HIDDEN),
)

THEOREMS: tuple[Theorem, ...] = (HYBRID,)
