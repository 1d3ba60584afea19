"""δ of a released model by shifted interpolation, and by contraction on top of it, for a record at any place.

A record whose last use lies v steps before the release is protected by θ_ε(μ_v), μ_v that of the best plan. At any
u ≤ v steps behind the last use one may stop counting distances and count kernels instead, which the two runs share
from there on: min over u of θ_ε(μ_u) θ_ε(r_c)^(v−u), with the same ε in both. u = 0 is contraction alone.
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
STAGE = 256
"""Nodes that are tried before all are."""
_TOGETHER = 2**14
"""How many θ are worked out at once."""
SMALL_LOG_DELTA = -14.0
"""A bound that is not convex lends its tails from a convex one, chosen where log δ is about this."""


@dataclass(frozen=True)
class RecordPlaces:
    """Places of the record that count: those with `uses` uses, the last of them v steps before a release.

    v runs from `first` to `last`, each counted min(cap, top − v) times.
    """

    uses: int
    first: int
    last: int
    cap: float = 1.0
    top: float = math.inf

    def before(self, v: FloatArray) -> FloatArray:
        """How many are counted below v."""
        turn = max(float(self.first), min(self.last + 1.0, self.top - self.cap + 1.0))
        inside = np.clip(v, self.first, self.last + 1.0)
        number = np.maximum(inside - turn, 0.0)
        falling = number * (self.top - turn) - 0.5 * number * (number - 1.0) if math.isfinite(self.top) else 0.0
        return np.asarray(self.cap * (np.minimum(inside, turn) - self.first) + falling)

    @cached_property
    def nodes(self) -> FloatArray:
        """v at which bounds are evaluated: every one at first, then in blocks. A block counts as its first v."""
        exact = np.arange(min(self.last + 1, EXACT_PLACES), dtype=np.float64)
        if self.last < EXACT_PLACES:
            return exact
        octaves = math.log((self.last + 1.0) / EXACT_PLACES) / math.log(BLOCK_RATIO)
        blocks = np.floor(EXACT_PLACES * BLOCK_RATIO ** np.arange(math.ceil(octaves)))
        return np.unique(np.concatenate((exact, blocks[blocks <= self.last])))

    @cached_property
    def weights(self) -> FloatArray:
        """How many places stand in each node's block."""
        ends = self.before(np.append(self.nodes, self.last + 1.0))
        return np.asarray(np.diff(ends))

    @cached_property
    def log_weights(self) -> FloatArray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights)


def places(run: ProjectedRun) -> tuple[tuple[RecordPlaces, ...], float]:
    """Where the record may stand in a run of equal steps, and the log weight of each place.

    Released at the end, a partition of period l over T = E l + r steps gives r places one use more than the others.
    Released at a random step of a single pass, v = τ − j. In a known order the worst place is the one next to the
    release with most uses, or the one at the first stop.
    """
    cycles, extra = divmod(run.steps, run.period)
    if run.stops > 1:
        if run.known_order:
            return (RecordPlaces(1, 0, run.stops - 1),), -math.log(run.stops)
        spread = RecordPlaces(1, 0, run.steps - 1, cap=float(run.stops), top=float(run.steps))
        return (spread,), math.log(run.participants) - math.log(run.clients) - math.log(run.stops)
    if run.known_order:
        return (RecordPlaces(cycles + 1 if extra else cycles, 0, 0),), 0.0
    more = (RecordPlaces(cycles + 1, 0, extra - 1),) if extra else ()
    fewer = (RecordPlaces(cycles, extra, run.period - 1),) if cycles else ()
    return more + fewer, math.log(run.participants) - math.log(run.clients)


@dataclass(frozen=True)
class EqualSteps:
    """A run of equal steps whose map contracts by c ≤ 1, released at its end or, in a single pass, anywhere."""

    run: ProjectedRun

    @cached_property
    def kinds(self) -> tuple[tuple[tuple[RecordPlaces, FloatArray], ...], float]:
        """Kinds of places with μ at their nodes, and the log weight of one place."""
        run = self.run
        step = run.step_schedule.at(1, 1)
        (shift,), _ = run.shifts(1, 1)
        contraction = run.lipschitz_constant(step)
        assert contraction is not None
        noise = float(step[0]) * float(run.noise_schedule.at(1, 1)[0]) / math.sqrt(run.participants)
        found, share = places(run)
        listed = []
        for kind in found:
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
        """μ, if there is one place and one release only."""
        (kind, mu), *others = self.kinds[0]
        return float(mu[0]) if not others and kind.last == 0 and self.kinds[1] == 0.0 else None

    def log_bound(self, epsilon: float, *, contracted: bool, switch: float | None = None) -> Interval:
        """Ends of the log of the weighted sum over places; with kernels counted behind the best u if `contracted`.

        With a `switch` they are counted from that many steps behind the last use, whatever ε: a sum of products of
        convex functions of e^ε, hence convex.
        """
        found = self._sums(*theta_with_error(epsilon, self._shifts(STAGE)), STAGE, contracted, switch)
        if found is None:
            found = self._sums(*theta_with_error(epsilon, self._shifts(None)), None, contracted, switch)
        assert found is not None
        return self._shared(found)

    def log_bounds(self, epsilons: FloatArray, *, contracted: bool, switch: float | None = None) -> list[Interval]:
        """The same at each of many ε, θ for some of them at once."""
        shifts, ends = self._shifts(STAGE), list[Interval]()
        together = max(_TOGETHER // shifts.size, 1)
        for start in range(0, epsilons.size, together):
            some = epsilons[start : start + together]
            for epsilon, value, error in zip(some.tolist(), *theta_with_error(some[:, None], shifts), strict=True):
                found = self._sums(value, error, STAGE, contracted, switch)
                if found is None:
                    ends.append(self.log_bound(epsilon, contracted=contracted, switch=switch))
                else:
                    ends.append(self._shared(found))
        return ends

    def _shared(self, found: Interval) -> Interval:
        """Times the weight of one place."""
        share = self.kinds[1]
        slack = 16 * UNIT_ROUNDOFF * (1.0 + abs(share)) + 1e-13
        return Interval(found.lower + share - slack, min(found.upper + share + slack, 0.0))

    def _shifts(self, first: int | None) -> FloatArray:
        """μ at the first nodes of every kind of place, and r_c."""
        return np.concatenate((*(mu[:first] for _, mu in self.kinds[0]), self._kernel))

    def _sums(
        self, value: FloatArray, error: FloatArray, most: int | None, contracted: bool, switch: float | None
    ) -> Interval | None:
        """The sum over the `most` first nodes of every kind of place, None if what is left out might matter.

        `value` and `error` are log θ_ε and its error at those shifts.
        """
        cuts = np.cumsum([0, *(mu[:most].size for _, mu in self.kinds[0])])
        kernel = (max(float(value[-1]), LEAST_LOG_FACTOR), float(error[-1])) if contracted else None
        total = Interval(-math.inf, -math.inf)
        for (kind, _), first, last in zip(self.kinds[0], cuts[:-1], cuts[1:], strict=True):
            ends = _summed(kind, value[first:last], error[first:last], kernel, switch=switch)
            if ends is None:
                return None
            total = Interval(*(float(np.logaddexp(one, other)) for one, other in zip(total, ends, strict=True)))
        return total

    @cached_property
    def _kernel(self) -> FloatArray:
        """r_c of every step."""
        return self.run.shifts(1, 1)[1]


def _summed(
    kind: RecordPlaces,
    value: FloatArray,
    error: FloatArray,
    kernel: tuple[float, float] | None,
    *,
    switch: float | None,
) -> Interval | None:
    """log Σ weight θ_ε(μ), with v κ + min_u (log θ_ε(μ_u) − u κ) in its place for a kernel's κ = log θ_c and its error.

    `value` is log θ_ε(μ) at the first nodes, or at all. The terms fall with v, so that the rest is at most its first
    term times its weight, and is charged; None if it may matter.
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
    left = float(value[-1] + error[-1]) + log_sum(kind.log_weights[value.size :])
    return Interval(lower, float(np.logaddexp(upper, left))) if left < lower - NEGLIGIBLE else None


# One ε at a time -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Contracted(Bound):
    """One use, and the kernels behind it: a sum, or the largest, of products of convex functions of e^ε."""

    run: ProjectedRun

    def log_bound(self, epsilon: float) -> Interval:
        """Both ends of the logarithm of the bound on δ."""
        return log_contraction_bound(epsilon, self.run)


@dataclass(frozen=True)
class Interpolated(Bound):
    """The best plan for every place, and kernels behind it if `contracted`."""

    steps: EqualSteps | DifferingSteps
    contracted: bool

    @cached_property
    def convex(self) -> Bound:
        """Itself without kernels. With them: kernels from one step on, the best where δ is about a millionth."""
        if not self.contracted:
            return self
        epsilon = 2.0**-10
        while self.log_bound(epsilon).upper > SMALL_LOG_DELTA and epsilon < LARGEST_EPSILON:
            epsilon *= 2.0
        choices: list[Bound] = [Interpolated(self.steps, contracted=False)]
        if isinstance(self.steps, EqualSteps):
            switches = (0.0, *(2.0**k for k in range(max(1, self.steps.run.period).bit_length())))
            choices += [Switched(self.steps, switch) for switch in switches]
        else:
            choices.append(Contracted(self.steps.run))
        return min(choices, key=lambda choice: choice.log_bound(epsilon).upper)

    def log_bound(self, epsilon: float) -> Interval:
        """Both ends of the logarithm of the bound on δ."""
        return self.steps.log_bound(epsilon, contracted=self.contracted)

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """The same at each of many ε."""
        if isinstance(self.steps, EqualSteps):
            return self.steps.log_bounds(epsilons, contracted=self.contracted)
        return [self.log_bound(epsilon) for epsilon in epsilons.tolist()]


@dataclass(frozen=True)
class Switched(Bound):
    """The best plan to `switch` steps behind the last use, kernels from there on."""

    steps: EqualSteps
    switch: float

    def log_bound(self, epsilon: float) -> Interval:
        """Both ends of the logarithm of the bound on δ."""
        return self.steps.log_bound(epsilon, contracted=True, switch=self.switch)

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """The same at each of many ε."""
        return self.steps.log_bounds(epsilons, contracted=True, switch=self.switch)


HYBRID = Theorem(
    id="epsilond.shift-then-contract",
    title="Shifted interpolation, then contraction",
    statement=(
        "δ(ε) ≤ min over τ, from the last use on, of θ_ε(μ_τ) Π_{k>τ} θ_ε(D_k √m/(η_k σ_k)), μ_τ by shifted "
        "interpolation of the first τ steps, D_k the diameter of step k's image"
    ),
    source=Source("epsilond", "asoodeh.lemma-2 after epsilond.shifted-interpolation"),
    status=Status.PROVED,
    conditions=(LIPSCHITZ_LOSSES, CONVEX_LOSSES, SMOOTH_LOSSES, PROJECTED, FRESH_NOISE, HIDDEN),
)

THEOREMS: tuple[Theorem, ...] = (HYBRID,)
