"""A run of projected gradient descent: its steps, their Lipschitz constants and the diameters of their images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray
from epsilond.accountants.quantities import Relation
from epsilond.accountants.schedules import Constant, Explicit, InverseTime
from epsilond.accountants.structure import sensitivity_factor

if TYPE_CHECKING:
    from epsilond.accountants.specs import ProjectedSgd

MOST_SCHEDULED = 10**7
MOST_SCHEDULED_STOPS = 10**6
MOST_SCHEDULED_NOISES = 10**6
"""Most steps of a run whose step size or noise changes: released at its end; at a random step; for a whole curve, if
the noise changes."""


def lipschitz_constant(
    step: FloatArray, *, smoothness: float | None, strong_convexity: float, convex: bool
) -> FloatArray | None:
    """Lipschitz constant of w ↦ w − η ∇F(w), rounded up; None where the gradient has none.

    The eigenvalues of the Hessian lie in [λ, β], or in [−β, β] without convexity: max(|1 − ηλ|, |1 − ηβ|) or 1 + ηβ.
    """
    if smoothness is None:
        return None
    if not convex:
        return np.asarray(1.0 + step * smoothness + 4 * UNIT_ROUNDOFF * (1.0 + step * smoothness))
    if strong_convexity == 0.0:
        return np.maximum(1.0, (step * smoothness - 1.0) * (1.0 + 8 * UNIT_ROUNDOFF))
    least, most = step * strong_convexity, step * smoothness
    constant = np.maximum(np.abs(1.0 - least), np.abs(1.0 - most)) + 4 * UNIT_ROUNDOFF * (1.0 + most)
    return np.where(most <= 2.0, np.minimum(constant, 1.0), constant)


def image_diameter(
    step: FloatArray,
    *,
    radius: float,
    lipschitz: float,
    smoothness: float | None,
    strong_convexity: float,
    convex: bool,
) -> FloatArray:
    """Diameter of {w − η ∇F(w): ‖w‖ ≤ ρ}: 2 min(c ρ, ρ + ηL), c the map's Lipschitz constant where it has one.

    For convex β-smooth losses and η ≤ 2/β this is 2ρ; strongly convex, 2ρ max(|1 − ηλ|, |1 − ηβ|); smooth but not
    convex, 2 min(ρ(1 + ηβ), ρ + ηL); neither, 2(ρ + ηL).
    """
    moved = 2.0 * (radius + step * lipschitz)
    constant = lipschitz_constant(step, smoothness=smoothness, strong_convexity=strong_convexity, convex=convex)
    return moved if constant is None else np.minimum(2.0 * radius * constant, moved)


@dataclass(frozen=True, kw_only=True)
class ProjectedRun:
    """A run, for one neighbouring relation. `sensitivity` is Δ; see `ProjectedSgd` for the rest.

    `known_order`: the order of the batches may be known, so that the worst place in it counts; otherwise each of the
    n records is equally likely to stand in any place. `whole_ball`: take every image's diameter to be 2ρ.
    """

    clients: int
    participants: int
    steps: int
    first_stop: int
    sensitivity: float
    lipschitz: float
    radius: float
    smoothness: float | None
    strong_convexity: float
    convex: bool
    step_schedule: Constant | InverseTime | Explicit
    noise_schedule: Constant | InverseTime | Explicit
    known_order: bool = False
    whole_ball: bool = False

    @classmethod
    def of(cls, spec: ProjectedSgd, relation: Relation) -> ProjectedRun:
        """The run of a spec."""
        return cls(
            clients=spec.clients,
            participants=spec.participants,
            steps=spec.steps,
            first_stop=spec.first_stop,
            sensitivity=sensitivity_factor(relation) * spec.lipschitz,
            lipschitz=spec.lipschitz,
            radius=spec.radius,
            smoothness=spec.smoothness,
            strong_convexity=spec.strong_convexity,
            convex=spec.convex,
            step_schedule=spec.step_schedule,
            noise_schedule=spec.noise_schedule,
            known_order=spec.batches == "cyclic",
        )

    @property
    def period(self) -> int:
        """Batches in one pass."""
        return self.clients // self.participants

    @property
    def stops(self) -> int:
        """How many steps may be the released one."""
        return self.steps - self.first_stop + 1

    @property
    def constant(self) -> bool:
        """Whether every step is like every other."""
        return self.step_schedule.constant is not None and self.noise_schedule.constant is not None

    @property
    def count(self) -> int:
        """How many steps, for `factor_sums`.

        Raises:
            BeyondBudget: more steps than can be gone through one by one.
        """
        most = MOST_SCHEDULED if self.stops == 1 else MOST_SCHEDULED_STOPS
        if self.steps > most:
            raise BeyondBudget(f"{self.steps} steps of changing size or noise are more than {most:.0e}")
        return self.steps

    @property
    def most_accounted(self) -> int:
        """Most steps of a run whose curve is read at some fifty ε."""
        most = MOST_SCHEDULED if self.one_sensitivity else MOST_SCHEDULED_NOISES
        return self.steps if self.constant else most if self.stops == 1 else min(most, MOST_SCHEDULED_STOPS)

    @property
    def largest_sensitivity(self) -> float:
        """r_s where the noise is least."""
        return self.sensitivity / (math.sqrt(self.participants) * self.noise_schedule.least(self.steps))

    @property
    def largest_step(self) -> float:
        """The largest step size."""
        constant = self.step_schedule.constant
        return constant if constant is not None else float(self.step_schedule.at(1, min(self.count, 10**6)).max())

    @property
    def one_sensitivity(self) -> bool:
        """Whether r_s is the same at every step."""
        return self.noise_schedule.constant is not None

    @cached_property
    def _least(self) -> dict[tuple[int, int], float]:
        """What `least_contraction` has found: it depends on no ε."""
        return {}

    def least_contraction(self, first: int, last: int) -> float:
        """The least r_c of steps first, …, last."""
        if (first, last) not in self._least:
            self._least[first, last] = float(self.shifts(first, last)[1].min())
        return self._least[first, last]

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """r_s and r_c of steps first, …, last."""
        step, noise = self.step_schedule.at(first, last), self.noise_schedule.at(first, last)
        root = math.sqrt(self.participants)
        return self.sensitivity / (root * noise), self.image_diameter(step) * root / (step * noise)

    def image_diameter(self, step: FloatArray) -> FloatArray:
        """D_k for a step size."""
        if self.whole_ball:
            return np.full(step.shape, 2.0 * self.radius)
        return image_diameter(
            step,
            radius=self.radius,
            lipschitz=self.lipschitz,
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            convex=self.convex,
        )

    def lipschitz_constant(self, step: FloatArray) -> FloatArray | None:
        """c_k for a step size."""
        return lipschitz_constant(
            step, smoothness=self.smoothness, strong_convexity=self.strong_convexity, convex=self.convex
        )
