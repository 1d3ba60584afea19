"""δ of a released model by shifted interpolation followed by contraction, for a record at any place.

θ_ε(r) is δ(ε) of N(r, 1) against N(0, 1). If the last use of a record is v steps before the release, shifted
interpolation gives δ ≤ θ_ε(μ_v). It may also be used only for the first u ≤ v steps after the last use. The two
neighbouring runs have the same distribution of each later step, given the model before it, so that each later step
multiplies δ by at most θ_ε(r_c). The bound is the minimum over u of θ_ε(μ_u) θ_ε(r_c)^(v−u), with the same ε in both
factors. u = 0 is contraction without interpolation.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON, Interval
from epsilond.accountants.numerics.factor_sums import LEAST_LOG_FACTOR, NEGLIGIBLE
from epsilond.accountants.numerics.mixed_sums import log_sum
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.thetas.many_shifts import theta_with_error
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
from epsilond.accountants.theorems.hidden_states.record_places import PossiblePlaces, RecordPlaces, places
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import HIDDEN, periodic_mu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.hidden_states.differing_steps import DifferingSteps

STAGE = 256
"""Number of nodes (times since the last use of a record) that are evaluated first; others follow if they matter."""
_BATCH = 2**14
"""Largest number of values of θ that are evaluated at once."""
SMALL_LOG_DELTA = -14.0
"""Value of log δ at which a convex bound is chosen, whose tails replace those of a bound that is not convex."""


class _Contraction(NamedTuple):
    """Contraction of δ(ε) of two runs on neighbouring data by each step after the last use of a record.

    A step multiplies δ(ε) by at most the δ(ε) of N(r, 1) against N(0, 1). Here r is the diameter of the set of models
    after the step without its noise, in standard deviations of this noise.

    Attributes:
        log_factor: natural logarithm of this factor.
        error: bound on the error of `log_factor`.
        switch: number of steps after the last use from which on steps contract; None for the best number for each time
            of the last use.
    """

    log_factor: float
    error: float
    switch: float | None


@dataclass(frozen=True)
class EqualSteps:
    """Bounds on δ for a run of projected SGD with equal steps.

    The model is released after the last step or, in a single pass, after a random step.

    Attributes:
        run: the run. Each gradient step has a Lipschitz constant of at most 1.
    """

    run: ProjectedRun

    @cached_property
    def places(self) -> PossiblePlaces:
        """Possible places of a record: the steps that use it, and the released step."""
        return places(self.run)

    @cached_property
    def mus(self) -> tuple[FloatArray, ...]:
        """Parameters μ of Gaussian differential privacy of the released model, by shifted interpolation.

        The noise of the steps hides the distance between two runs on neighbouring data. There is one array for each
        number of uses of the record, an entry of `places.kinds`. It has a μ for each v in `nodes` of this entry, where
        v is the number of steps from the last use to the release.
        """
        # All steps are equal to the first one.
        run = self.run
        step_size = run.step_schedule.at(1, 1)
        (shift,), _ = run.shifts(1, 1)
        contraction = run.lipschitz_constant(step_size)
        assert contraction is not None  # the theorem requires smooth losses
        noise_std = float(step_size[0]) * float(run.noise_schedule.at(1, 1)[0]) / math.sqrt(run.participants)
        # Distances are in standard deviations of a step's noise.
        mu_of = functools.partial(
            periodic_mu,
            period=run.period,
            contraction=float(contraction[0]),
            shift=float(shift),
            diameter=2.0 * run.radius / noise_std,
        )
        return tuple(mu_of(uses=kind.uses, after=kind.nodes) for kind in self.places.kinds)

    @property
    def single_mu(self) -> float | None:
        """The parameter μ if the record has only one possible place; None otherwise."""
        kinds, log_probability = self.places
        if len(kinds) > 1 or log_probability != 0.0 or kinds[0].last > 0:
            return None
        return float(self.mus[0][0])

    def log_bound(self, epsilon: float, *, contracted: bool, switch: float | None = None) -> Interval:
        """Enclose the log of the bound on δ(ε) of the released model, a mean over the steps that may use the record.

        Shifted interpolation hides the effect of the record in the noise of all steps up to the release, or only up to
        u steps after its last use. Each further step then multiplies δ by a contraction factor.

        Args:
            epsilon: ε ≥ 0, in nats.
            contracted: whether further steps contract δ. False for interpolation over all steps.
            switch: u, for all ε. The bound is then a sum of products of convex functions of e^ε, and so convex. None
                for the best u at this ε.

        Returns:
            Numerical bounds on the natural logarithm.
        """

        def total_over(most: int | None) -> Interval | None:
            """Return the sum over the `most` least times since the last use; None if other times might matter."""
            theta, error = theta_with_error(epsilon, self._shifts(most))
            return self._sum(theta, error, most, contracted=contracted, switch=switch)

        total = total_over(STAGE)
        if total is None:
            total = total_over(None)
        assert total is not None  # no node was omitted
        return self._mean(total)

    def log_bounds(self, epsilons: FloatArray, *, contracted: bool, switch: float | None = None) -> list[Interval]:
        """Enclose the log of the bound on δ(ε) at many ε, as `log_bound` does at one ε.

        Args:
            epsilons: array of values of ε ≥ 0, in nats.
            contracted: whether later steps contract δ; see `log_bound`.
            switch: number of steps after the last use from which on they do; see `log_bound`.

        Returns:
            Numerical bounds on the natural logarithm, for each ε.
        """
        shifts = self._shifts(STAGE)
        bounds: list[Interval] = []
        # Batches of ε limit the size of the arrays.
        batch_size = max(_BATCH // shifts.size, 1)
        for start in range(0, epsilons.size, batch_size):
            batch = epsilons[start : start + batch_size]
            thetas, errors = theta_with_error(batch[:, None], shifts)
            for epsilon, theta, error in zip(batch.tolist(), thetas, errors, strict=True):
                total = self._sum(theta, error, STAGE, contracted=contracted, switch=switch)
                if total is None:  # further nodes are needed
                    bounds.append(self.log_bound(epsilon, contracted=contracted, switch=switch))
                else:
                    bounds.append(self._mean(total))
        return bounds

    def _mean(self, total: Interval) -> Interval:
        """Return the log of the mean over the places, from the log of the sum over the places, rounded outward."""
        # The margins exceed the rounding errors of the sum over the places.
        log_probability = self.places.log_probability
        slack = 16 * UNIT_ROUNDOFF * (1.0 + abs(log_probability)) + 1e-13
        lower = total.lower + log_probability - slack
        upper = min(total.upper + log_probability + slack, 0.0)
        return Interval(lower, upper)

    def _shifts(self, most: int | None) -> FloatArray:
        """Return all r for which the bound needs δ(ε) of N(r, 1) against N(0, 1), as one array.

        Args:
            most: number of nodes (numbers of steps from the last use to the release) of each kind of places; None for
                all nodes.

        Returns:
            The parameters μ at these nodes, one kind of places after another. The last entry is that of the contraction
            factor: the diameter of the set of models after a step without its noise, in units of this noise.
        """
        _, contraction = self.run.shifts(1, 1)
        return np.concatenate((*(mu[:most] for mu in self.mus), contraction))

    def _sum(
        self, theta: FloatArray, error: FloatArray, most: int | None, *, contracted: bool, switch: float | None
    ) -> Interval | None:
        """Enclose the log of the sum of the bounds on δ(ε) over all possible places of the record.

        Args:
            theta: log of the δ(ε) of N(r, 1) against N(0, 1), at each r of `_shifts(most)`: one kind of places after
                another, and last the contraction factor.
            error: bound on the error of each entry of `theta`.
            most: number of nodes (numbers of steps from the last use to the release) of each kind; None for all.
            contracted: whether each step after the first u ones multiplies δ by the contraction factor.
            switch: the number u of steps after the last use; None for the best one.

        Returns:
            The bounds; None if the nodes beyond `most` might not be negligible.
        """
        contraction = None
        if contracted:
            log_factor = max(float(theta[-1]), LEAST_LOG_FACTOR)
            contraction = _Contraction(log_factor, float(error[-1]), switch)
        lower = upper = -math.inf
        start = 0  # index of the first node of a kind in `theta`
        for kind, mu in zip(self.places.kinds, self.mus, strict=True):
            end = start + mu[:most].size
            bounds = _sum_over_places(kind, theta[start:end], error[start:end], contraction)
            if bounds is None:
                return None
            lower = float(np.logaddexp(lower, bounds.lower))
            upper = float(np.logaddexp(upper, bounds.upper))
            start = end
        return Interval(lower, upper)


def _sum_over_places(
    kind: RecordPlaces, theta: FloatArray, error: FloatArray, contraction: _Contraction | None
) -> Interval | None:
    """Enclose the log of the sum of the bounds on δ(ε) over all places of a record with the same number of uses.

    If v steps follow the last use, δ(ε) is at most θ_v, the δ(ε) of N(μ_v, 1) against N(0, 1). θ_v does not increase
    with v. It is evaluated only at some v, the nodes, and counts for all places from a node to the next one. If only
    the first nodes are given, the last value bounds those of all omitted places.

    Args:
        kind: the places, with the nodes v and the number of places from each node to the next.
        theta: log θ_v at the first nodes, or at all nodes.
        error: bound on the error of each entry of `theta`.
        contraction: factor by which later steps multiply δ(ε); None if they do not contract.

    Returns:
        Lower and upper bounds on the log of the sum; None if the omitted places might not be negligible.
    """
    count = theta.size
    if contraction is not None:
        theta, error = _contract(kind.nodes[:count], theta, error, contraction)
    terms = theta + kind.log_weights[:count]
    lower, upper = log_sum(terms - error), log_sum(terms + error)
    if count == kind.nodes.size:
        return Interval(lower, upper)
    largest_omitted = float(theta[-1] + error[-1])
    omitted_sum = largest_omitted + log_sum(kind.log_weights[count:])
    if omitted_sum >= lower - NEGLIGIBLE:
        return None
    return Interval(lower, float(np.logaddexp(upper, omitted_sum)))


def _contract(
    after_use: FloatArray, theta: FloatArray, error: FloatArray, contraction: _Contraction
) -> tuple[FloatArray, FloatArray]:
    """Compute the log of the contracted bound on δ(ε) for each number v of steps after the last use of a record.

    After u of these steps, δ(ε) is at most θ_ε(μ_u), the δ(ε) of N(μ_u, 1) against N(0, 1). Each of the remaining v − u
    steps multiplies this by at most θ_c. The bound is:

        min_u θ_ε(μ_u) θ_c^(v−u),

    where u is an entry of `after_use` up to v, or fixed by `contraction.switch`.

    Args:
        after_use: numbers v of steps after the last use, increasing.
        theta: log θ_ε(μ_v) for each of them.
        error: bound on its error.
        contraction: log θ_c, and u if it is fixed.

    Returns:
        The logarithm for each v, and a bound on its error.
    """
    log_factor = contraction.log_factor
    relative = theta - after_use * log_factor  # log θ_ε(μ_u) θ_c^(−u) at u = v
    if contraction.switch is None:
        least = np.minimum.accumulate(relative)
    else:
        last = int(np.searchsorted(after_use, contraction.switch, side="right")) - 1
        least = np.where(after_use > after_use[last], relative[last], relative)
    # The error of log θ_c counts once for each step. Products are rounded too.
    factor_error = after_use * (contraction.error + 4 * UNIT_ROUNDOFF * abs(log_factor))
    return after_use * log_factor + least, np.maximum.accumulate(error) + factor_error


# One ε at a time -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ContractionBound(Bound):
    """Bound on δ(ε) by contraction, for a run that uses each record at most once.

    δ(ε) of the step that uses the record is multiplied by a factor below 1 for each later step. The bound is a sum, or
    the maximum, of products of convex functions of e^ε, and so is convex itself.

    Attributes:
        run: a single pass.
    """

    run: ProjectedRun

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the natural logarithm of the bound on δ at an ε in nats."""
        return log_contraction_bound(epsilon, self.run)


@dataclass(frozen=True)
class InterpolationBound(Bound):
    """Bound on δ(ε) of the released model by shifted interpolation, which may be followed by contraction.

    In shifted interpolation, the noise of each step hides a part of the distance of two runs on neighbouring data. The
    parts are those that are best for each place of the record in the order of the batches.

    Attributes:
        steps: the steps of the run.
        contracted: whether later steps contract δ.
    """

    steps: EqualSteps | DifferingSteps
    contracted: bool

    @cached_property
    def convex(self) -> Bound:
        """Bound on δ that is convex in e^ε, as the tails of a privacy loss require.

        It is the least of several convex bounds at an ε at which δ is small: of the bound without contraction, and of
        bounds with contraction from a fixed step on.
        """
        if not self.contracted:
            return self
        # An ε with log δ ≤ `SMALL_LOG_DELTA`, that is, δ ≤ 8e-7.
        epsilon = 2.0**-10
        while self.log_bound(epsilon).upper > SMALL_LOG_DELTA and epsilon < LARGEST_EPSILON:
            epsilon *= 2.0
        without_contraction = InterpolationBound(self.steps, contracted=False)
        candidates = (without_contraction, *self._bounds_with_switch())
        return min(candidates, key=lambda bound: bound.log_bound(epsilon).upper)

    def _bounds_with_switch(self) -> Sequence[Bound]:
        """Return bounds with contraction from a step after the last use on: 0, or for equal steps 0, 1, 2, 4, …."""
        if not isinstance(self.steps, EqualSteps):
            return [ContractionBound(self.steps.run)]
        doublings = max(1, self.steps.run.period).bit_length()
        switches = [0.0, *(2.0**exponent for exponent in range(doublings))]
        return [SwitchedBound(self.steps, switch) for switch in switches]

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the natural logarithm of the bound on δ at an ε in nats."""
        return self.steps.log_bound(epsilon, contracted=self.contracted)

    def log_bounds(self, epsilons: FloatArray) -> list[Interval]:
        """Return the results of `log_bound` at many ε."""
        if isinstance(self.steps, EqualSteps):
            return self.steps.log_bounds(epsilons, contracted=self.contracted)
        return [self.log_bound(epsilon) for epsilon in epsilons.tolist()]


@dataclass(frozen=True)
class SwitchedBound(Bound):
    """Bound on δ(ε) of the released model by shifted interpolation, and by contraction from a fixed step on.

    Attributes:
        steps: the steps of the run.
        switch: number of steps after the last use of the record from which on steps contract δ.
    """

    steps: EqualSteps
    switch: float

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the natural logarithm of the bound on δ at an ε in nats."""
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
