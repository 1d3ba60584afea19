"""A run of one pass of noisy projected SGD with a step size and a noise for every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.federation import read_member
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    RATIOS,
    SMOOTHNESS,
    Checks,
    Dimension,
    Lipschitz,
    ParticipantFields,
    StrongConvexity,
    request,
)
from epsilond.accountants.quantities.algorithms import NOISE_SCHEDULE, STEP_SCHEDULE, Radius
from epsilond.accountants.schedules import Constant, Explicit, InverseTime, Schedule, demand_length
from epsilond.accountants.theorems.risk.asoodeh.convex_bound import STOPS

KINDS = {"constant": Constant, "inverse-time": InverseTime, "explicit": Explicit}
"""Class of a schedule, by the name of its kind."""


@request
class ScheduledRun(ParticipantFields):
    """One pass over n users, m in each step, with a step size and a noise for every step; no noise if it is absent."""

    scale: ClassVar = RATIOS

    dimension: Dimension
    lipschitz: Lipschitz
    radius: Radius
    strong_convexity: StrongConvexity = 0.0
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    step_schedule: Annotated[Schedule, STEP_SCHEDULE]
    noise_schedule: Annotated[Schedule | None, NOISE_SCHEDULE] = None
    stops: Annotated[int | None, STOPS] = None

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)

    def check(self) -> None:
        """Check that each schedule has a value for every step, and that `stops` is at most the number of steps.

        Raises:
            InvalidInput: a schedule that is a list has another length, or `stops` is too large.
        """
        for name in ("step_schedule", "noise_schedule"):
            schedule: object = getattr(self, name)
            if isinstance(schedule, Mapping):  # an object of a JSON body, which is read as a schedule of its `kind`
                schedule_class = KINDS.get(str(schedule.get("kind")), Constant)
                read_member(self, name, schedule_class)
        demand_length(self.step_schedule, self.steps, at="/step_schedule")
        if self.noise_schedule is not None:
            demand_length(self.noise_schedule, self.steps, at="/noise_schedule")
        if self.possible_stops > self.steps:
            raise InvalidInput.at("/stops", "cannot exceed the steps of the pass", allowed=f"≤ {self.steps}")

    @property
    def steps(self) -> int:
        """Number T = ⌊n/m⌋ of steps."""
        return self.clients // self.participants

    @property
    def possible_stops(self) -> int:
        """Number k of last steps after which the run may stop."""
        return self.steps if self.stops is None else self.stops

    def moments(self, first: int, last: int) -> FloatArray:
        """Return bounds s_t² on the mean squared norm of the noisy gradient in a range of steps t.

        With the Lipschitz constant L, the dimension d, the batch size m, and the standard deviation σ_t of the noise of
        one record's gradient per coordinate:

            s_t² = L² + dσ_t²/m.

        Args:
            first: index of the first step of the range, from 1.
            last: index of the last step of the range, at least `first` − 1.

        Returns:
            An array of one bound for each step from `first` to `last`, in squared gradient units.
        """
        squared_gradients = np.full(last - first + 1, self.lipschitz**2)
        if self.noise_schedule is None:
            return squared_gradients
        noise_stds = self.noise_schedule.at(first, last)
        return np.asarray(squared_gradients + self.dimension / self.participants * noise_stds * noise_stds)


@dataclass(frozen=True)
class Window:
    """Sizes and gradients of the steps that follow the models W_first, …, W_T of a run of noisy projected SGD.

    The step after the last model W_T exists only in the analysis. It has the size of the step before it and no noise.

    Attributes:
        sizes: size e_t of the step after each W_t.
        moments: bound r_t² on the mean squared norm of the noisy gradient of each of these steps.
    """

    sizes: FloatArray
    moments: FloatArray

    @classmethod
    def of(cls, run: ScheduledRun, first: int) -> Window:
        """Collect the steps that follow the models from W_first on, with the step that the analysis adds after W_T.

        Args:
            run: the run of T steps.
            first: index of the first model of the window, at most T.

        Returns:
            The T − first + 1 step sizes, and as many bounds on the gradients.
        """
        steps = run.steps
        appended_size = run.step_schedule.at(steps, steps)
        appended_moment = run.lipschitz**2
        sizes = np.append(run.step_schedule.at(first + 1, steps), appended_size)
        moments = np.append(run.moments(first + 1, steps), appended_moment)
        return cls(sizes, moments)
