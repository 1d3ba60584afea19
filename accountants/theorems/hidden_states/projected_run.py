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
"""Largest number of steps of changing size, for a run that is released at its end."""
MOST_SCHEDULED_STOPS = 10**6
"""Largest number of steps of changing size or noise, for a run that is released at a random step."""
MOST_SCHEDULED_NOISES = 10**6
"""Largest number of steps of changing noise, for a full curve."""


def lipschitz_constant(
    step: FloatArray, *, smoothness: float | None, strong_convexity: float, convex: bool
) -> FloatArray | None:
    """Return the Lipschitz constant of the gradient step w ↦ w − η ∇F(w), rounded up.

    For convex losses the eigenvalues of the Hessian are in [λ, β], and the constant is max(|1 − ηλ|, |1 − ηβ|). For
    other losses they are in [−β, β], and it is 1 + ηβ.

    Args:
        step: step sizes η.
        smoothness: smoothness β of the loss; None if it is not smooth.
        strong_convexity: strong convexity λ ≥ 0 of the loss; not used if the loss is not convex.
        convex: whether the loss is convex.

    Returns:
        One constant for each step size. None if the loss is not smooth, because its gradient then has no constant.
    """
    if smoothness is None:
        return None
    # The added multiples of the unit roundoff exceed the rounding errors of the products and differences.
    largest_product = step * smoothness  # ηβ
    if not convex:
        return np.asarray(1.0 + largest_product + 4 * UNIT_ROUNDOFF * (1.0 + largest_product))
    if strong_convexity == 0.0:
        return np.maximum(1.0, (largest_product - 1.0) * (1.0 + 8 * UNIT_ROUNDOFF))
    smallest_product = step * strong_convexity  # ηλ
    constant = np.maximum(np.abs(1.0 - smallest_product), np.abs(1.0 - largest_product))
    constant = constant + 4 * UNIT_ROUNDOFF * (1.0 + largest_product)
    # For η ≤ 2/β the constant is at most 1, so rounding up need not exceed it.
    return np.where(largest_product <= 2.0, np.minimum(constant, 1.0), constant)


def image_diameter(
    step: FloatArray,
    *,
    radius: float,
    lipschitz: float,
    smoothness: float | None,
    strong_convexity: float,
    convex: bool,
) -> FloatArray:
    """Return upper bounds on the diameter of the image of a ball under a gradient step, {w − η ∇F(w): ‖w‖ ≤ ρ}.

    The bound is 2 min(c ρ, ρ + ηL), with the Lipschitz constant c of the step (`lipschitz_constant`):

        convex β-smooth losses and η ≤ 2/β: c = 1,
        λ-strongly convex, β-smooth losses: c = max(|1 − ηλ|, |1 − ηβ|),
        β-smooth losses that are not convex: c = 1 + ηβ,
        losses that are not smooth: no c, so that the bound is 2(ρ + ηL).

    Args:
        step: step sizes η; the result has one bound for each.
        radius: radius ρ of the ball.
        lipschitz: Lipschitz constant L of the loss.
        smoothness: smoothness β of the loss; None if it is not smooth.
        strong_convexity: strong convexity λ ≥ 0 of the loss.
        convex: whether the loss is convex.

    Returns:
        One bound for each step size, in the unit of the radius.
    """
    by_lipschitz = 2.0 * (radius + step * lipschitz)
    constant = lipschitz_constant(step, smoothness=smoothness, strong_convexity=strong_convexity, convex=convex)
    if constant is None:
        return by_lipschitz
    return np.minimum(2.0 * radius * constant, by_lipschitz)


@dataclass(frozen=True, kw_only=True)
class ProjectedRun:
    """A run of noisy projected gradient descent that releases one model, under one neighbouring relation.

    The model stays in a ball. Each step takes the mean of the gradients of a batch of clients, with one record each.

    Attributes:
        clients: number n of clients.
        participants: number m of clients in a batch.
        steps: number of steps.
        first_stop: first step after which the model may be released; the released step is uniform from there on.
        sensitivity: Δ, the largest distance of two gradients of one record.
        lipschitz: Lipschitz constant L of the losses.
        radius: radius ρ of the ball.
        smoothness: smoothness β of the losses; None if they are not smooth.
        strong_convexity: strong convexity λ of the losses.
        convex: whether the losses are convex.
        step_schedule: step size η_t of each step.
        noise_schedule: noise σ_t of one client per coordinate, in each step.
        known_order: whether the order of the batches may be known. If so, the bound is for the worst batch of the
            record. Otherwise each of the n records is equally likely to be in any batch.
        whole_ball: whether 2ρ, the diameter of the ball, replaces the diameter of each step's image.
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
        """Return a run of projected SGD as specified in a request, with the sensitivity of a neighbouring relation.

        Args:
            spec: specification of the run (a request). The order of its batches counts as known if they are cyclic.
            relation: neighbouring relation, such as "replace-one". It decides how far one record may shift a gradient
                sum: by 2L if it is replaced, and by L if it is zeroed, for the Lipschitz constant L.

        Returns:
            The run, with the sensitivity that follows from the relation.
        """
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
        """The number of batches in one pass."""
        return self.clients // self.participants

    @property
    def stops(self) -> int:
        """The number of steps that may be released."""
        return self.steps - self.first_stop + 1

    @property
    def constant(self) -> bool:
        """True if all steps have the same size and noise."""
        return self.step_schedule.constant is not None and self.noise_schedule.constant is not None

    @property
    def count(self) -> int:
        """The number of steps, if a sum with one term for each step is affordable.

        The sum takes longer if the step whose model is released is random. Fewer steps are then permitted.

        Raises:
            BeyondBudget: there are too many steps to process one by one.
        """
        most = MOST_SCHEDULED_STOPS
        if self.stops == 1:
            most = MOST_SCHEDULED
        if self.steps > most:
            raise BeyondBudget(f"{self.steps} steps of changing size or noise are more than {most:.0e}")
        return self.steps

    @property
    def most_accounted(self) -> int:
        """The largest number of steps for which a full privacy curve, of some fifty ε, is computed."""
        if self.constant:
            return self.steps
        most = MOST_SCHEDULED if self.one_sensitivity else MOST_SCHEDULED_NOISES
        if self.stops == 1:
            return most
        return min(most, MOST_SCHEDULED_STOPS)

    @property
    def largest_sensitivity(self) -> float:
        """The largest shift r_s of the mean by a use of the record, which is that of the step with the least noise.

        It is in standard deviations of the noise.
        """
        least_noise = self.noise_schedule.least(self.steps)
        return self.sensitivity / (math.sqrt(self.participants) * least_noise)

    @property
    def largest_step(self) -> float:
        """The largest step size.

        Raises:
            BeyondBudget: step sizes differ, and there are too many of them (`count`).
        """
        constant = self.step_schedule.constant
        if constant is not None:
            return constant
        # An explicit list has at most a million entries, and step sizes c/t are largest at the first step.
        most_evaluated = 10**6
        return float(self.step_schedule.at(1, min(self.count, most_evaluated)).max())

    @property
    def one_sensitivity(self) -> bool:
        """True if the shift r_s of a use of the record is the same at every step."""
        return self.noise_schedule.constant is not None

    @cached_property
    def _least_contractions(self) -> dict[tuple[int, int], float]:
        """Stored results of `least_contraction` by the first and last step. They do not depend on ε."""
        return {}

    def least_contraction(self, first: int, last: int) -> float:
        """Return the least contraction shift r_c in a range of steps, and store it for later calls.

        r_c is the diameter of the set of models after a step without its noise, in standard deviations of this noise.

        Args:
            first: index of the first step, from 1.
            last: index of the last step.

        Returns:
            The least r_c of these steps.
        """
        steps = (first, last)
        if steps not in self._least_contractions:
            _, contraction = self.shifts(first, last)
            self._least_contractions[steps] = float(contraction.min())
        return self._least_contractions[steps]

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Return two distances for each of the steps first, …, last, in standard deviations of the step's noise.

        Args:
            first: index of the first step, from 1.
            last: index of the last step.

        Returns:
            Two arrays with one entry for each step. r_s is the largest distance by which a use of the record may move
            the model. r_c is an upper bound on the diameter of the set of models after the step without its noise.
        """
        step = self.step_schedule.at(first, last)
        noise = self.noise_schedule.at(first, last)
        root = math.sqrt(self.participants)
        use_shifts = self.sensitivity / (root * noise)
        contraction_shifts = self.image_diameter(step) * root / (step * noise)
        return use_shifts, contraction_shifts

    def image_diameter(self, step: FloatArray) -> FloatArray:
        """Return upper bounds on the diameter of the set of models after a step without noise, before the projection.

        The set is the image of the ball of models under the gradient step.

        Args:
            step: array of step sizes, each above 0.

        Returns:
            An array with one bound for each step size, in the unit of the radius. If `whole_ball` is set, every bound
            is 2ρ.
        """
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
        """Return the Lipschitz constant of a gradient step for each step size; None if the loss is not smooth."""
        return lipschitz_constant(
            step, smoothness=self.smoothness, strong_convexity=self.strong_convexity, convex=self.convex
        )
