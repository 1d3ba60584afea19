"""The bounds of one released model of projected SGD, one ε at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import LARGEST_EPSILON, Interval
from epsilond.accountants.numerics.factor_sums import CHUNK, log_sum, theta_of_many
from epsilond.accountants.theorems.hidden_states.contraction_bound import log_contraction_bound
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_bound import EqualSteps, places
from epsilond.accountants.theorems.hidden_states.shifted_interpolation_plan import OUTWARD

if TYPE_CHECKING:
    from epsilond.accountants.theorems.composition.least_of import Bound
    from epsilond.accountants.theorems.hidden_states.projected_sgd_run import Run
    from epsilond.accountants.theorems.hidden_states.shifted_interpolation_schedule import DifferingSteps

SMALL_LOG_DELTA = -14.0
"""A bound that is not convex lends its tails from a convex one, chosen where log δ is about this."""


@dataclass(frozen=True)
class Contracted:
    """One use, and the kernels behind it: a sum, or the largest, of products of convex functions of e^ε."""

    run: Run

    def log_bound(self, epsilon: float) -> Interval:
        """Ends of log δ."""
        return log_contraction_bound(epsilon, self.run)


@dataclass(frozen=True)
class Interpolated:
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
        """Ends of log δ."""
        return self.steps.log_bound(epsilon, contracted=self.contracted)


@dataclass(frozen=True)
class Switched:
    """The best plan to `switch` steps behind the last use, kernels from there on."""

    steps: EqualSteps
    switch: float

    def log_bound(self, epsilon: float) -> Interval:
        """Ends of log δ."""
        return self.steps.log_bound(epsilon, contracted=True, switch=self.switch)


@dataclass(frozen=True)
class EveryModel:
    """All uses of the record composed, averaged over its place."""

    run: Run

    @cached_property
    def groups(self) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]:
        """μ of each group of places, and the log of its share of all n records."""
        run = self.run
        total = math.log(run.clients)
        if run.noise_schedule.constant is not None:
            last = replace(run, first_stop=run.steps) if run.steps > run.period else run
            kinds, share = places(last)
            mu = [math.sqrt(kind.uses) * run.largest_sensitivity * OUTWARD for kind in kinds]
            counts = [float(kind.before(np.asarray([kind.last + 1.0]))[0]) for kind in kinds]
            return np.asarray(mu), np.log(counts) + share
        sensitivity = np.zeros(-(-run.steps // run.period) * run.period)
        sensitivity[: run.steps], _ = run.shifts(1, run.steps)
        squares = (sensitivity.reshape(-1, run.period) ** 2).sum(axis=0)
        squares = np.sort(squares[squares > 0.0])
        return np.sqrt(squares) * OUTWARD, np.full(squares.shape, math.log(run.participants) - total)

    @property
    def worst_mu(self) -> float:
        """μ of the worst place."""
        return float(self.groups[0].max())

    def log_bound(self, epsilon: float) -> Interval:
        """Ends of log δ."""
        mu, shares = self.groups
        parts = [theta_of_many(epsilon, mu[first : first + CHUNK]) for first in range(0, mu.size, CHUNK)]
        value, error = (np.concatenate(each) for each in zip(*parts, strict=True))
        lower, upper = (log_sum(value + shares + sign * (error + 1e-14)) for sign in (-1.0, 1.0))
        return Interval(lower, min(upper, 0.0))
