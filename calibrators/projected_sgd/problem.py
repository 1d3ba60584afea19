"""The question that projected-sgd answers: one pass of noisy projected gradient descent, one number left open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    ANY_SCALE,
    GRADIENT_STD,
    PARTICIPANTS,
    RATIOS,
    SMOOTHNESS,
    Clients,
    Dimension,
    Lipschitz,
    Quantity,
    StrongConvexity,
    TargetedProblem,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CONVEX,
    NOISE_SCHEDULE,
    RELEASE,
    STEP_SCHEDULE,
    SUFFIX_FRACTION,
    Radius,
    Release,
)
from epsilond.accountants.quantities.risks import PointTargets
from epsilond.accountants.schedules import Constant, Explicit, InverseTime, Schedule
from epsilond.accountants.specs import ProjectedSgd
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import MEAN_GRADIENT_BOUND
from epsilond.accountants.theorems.risk.asoodeh.one_pass import SHAMIR_CONSTANT

Unknown = Literal["noise_std", "step_size", "participants"]
Reading = Literal["statement", "lipschitz", "smooth", "strongly-convex", "proof", "experimental"]
READINGS: tuple[Reading, ...] = ("statement", "lipschitz", "smooth", "strongly-convex", "proof", "experimental")
NEEDED = "is needed unless it is solved for"
"""Message of a fault about an absent field."""
AnySchedule = Constant | InverseTime | Explicit


def scale_schedule(schedule: AnySchedule, factor: float) -> AnySchedule:
    """Return the schedule with its value in every step multiplied by a factor.

    Args:
        schedule: step sizes or noises: constant, proportional to 1/t in step t, or listed.
        factor: the factor, above 0.

    Returns:
        A schedule of the same kind.
    """
    if isinstance(schedule, Explicit):
        return Explicit(values=tuple(factor * value for value in schedule.values))
    if isinstance(schedule, InverseTime):
        return InverseTime(scale=factor * schedule.scale)
    return Constant(value=factor * schedule.value)


@dataclass(frozen=True, kw_only=True)
class RunSchedules:
    """The batch size, the step sizes and the noises of a run.

    Attributes:
        participants: batch size m, a number of clients.
        step_schedule: step size of each step.
        noise_schedule: standard deviation of the noise of one record in each step.
    """

    participants: int
    step_schedule: AnySchedule
    noise_schedule: AnySchedule

    @property
    def is_constant(self) -> bool:
        """True if all steps have the same size and the same noise."""
        return self.step_schedule.constant is not None and self.noise_schedule.constant is not None

    def least_noise(self, clients: int) -> float:
        """Return the least standard deviation of the noise over all steps of one pass over this number of clients."""
        return self.noise_schedule.least(clients // self.participants)


@request
class ProjectedSgdProblem(PointTargets, TargetedProblem):
    """The target, the pass over the clients, and the number that is computed (`solve_for`).

    One pass uses n clients with one record each, in ⌊n/m⌋ secret batches of m = `participants`. One model is released,
    and no other model is seen. The noise is the one that each client adds to its own gradient.

    `noise_std`: the smallest noise is computed. `noise_schedule` is then a shape that is scaled as a whole; if it is
    absent, the noise is constant. `step_size`: the smallest step size is computed, and `step_schedule` is a shape in
    the same way. `participants`: the smallest batch size that meets the target is computed. Larger ones may miss it.
    `participants` is then absent, and no schedule lists its values.
    """

    scale: ClassVar = RATIOS
    solve_for: Annotated[
        Unknown, Quantity(description="name of the number to compute; the request gives the others")
    ] = "noise_std"
    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    dimension: Dimension
    lipschitz: Lipschitz
    radius: Radius
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    convex: Annotated[bool, CONVEX] = True
    step_schedule: Annotated[Schedule | None, STEP_SCHEDULE] = None
    noise_schedule: Annotated[Schedule | None, NOISE_SCHEDULE] = None
    release: Annotated[Release, RELEASE] = "last"
    suffix_fraction: Annotated[float | None, SUFFIX_FRACTION] = None
    gradient_bound: Annotated[
        float | None,
        MEAN_GRADIENT_BOUND.assume("the value of lipschitz", lambda p: p.lipschitz, when=lambda p: p.release == "last"),
    ] = None
    gradient_std: Annotated[
        float | None, GRADIENT_STD.assume("the value of lipschitz", lambda p: p.lipschitz), ANY_SCALE
    ] = None
    shamir_constant: Annotated[float | None, SHAMIR_CONSTANT] = None
    readings: Annotated[
        tuple[Reading, ...] | None,
        Quantity(description="interpretations (readings) of the printed bounds to return; all if absent"),
    ] = None

    def check(self) -> None:
        """Check that the number to search for is absent, that the others are given, and that the run is possible.

        Raises:
            InvalidInput: one of these conditions fails, or a reading is unknown. Every fault names its field.
        """
        faults = [*self._missing_fields(), *self._batch_search_faults()]
        if not set(self.readings or ()) <= set(READINGS):
            faults.append(Fault("/readings", "has an unknown reading", ", ".join(READINGS)))
        if faults:
            raise InvalidInput(*faults)
        self.spec(self.plan())

    def _missing_fields(self) -> Iterator[Fault]:
        """Yield a fault for each absent number or schedule that is not solved for."""
        if self.participants is None and self.solve_for != "participants":
            yield Fault("/participants", NEEDED)
        if self.step_schedule is None and self.solve_for != "step_size":
            yield Fault("/step_schedule", NEEDED)
        if self.noise_schedule is None and self.solve_for != "noise_std":
            yield Fault("/noise_schedule", NEEDED)

    def _batch_search_faults(self) -> Iterator[Fault]:
        """Yield the faults of a request to search for the batch size: a given size, or a list of steps or noises.

        A list has one value for each step, but the number of steps depends on the batch size.

        Yields:
            Faults with the pointer to the field; none if another number is searched for.
        """
        if self.solve_for != "participants":
            return
        if self.participants is not None:
            yield Fault("/participants", "is what is solved for")
        for name in ("step_schedule", "noise_schedule"):
            if isinstance(getattr(self, name), Explicit):
                yield Fault(f"/{name}/kind", "a list fits one number of steps only", "constant, inverse-time")

    def plan(self, **solved: float) -> RunSchedules:
        """Return the batch size, step sizes and noises of the run at a value of the number that is searched for.

        All other numbers are those of the request. Absent ones are 1. Steps and noises keep their proportions.

        Args:
            solved: the number that is searched for, by name, at most one: `noise_std`, the least noise of all steps;
                `step_size`, the largest step; or `participants`, the batch size.
        """
        participants = int(solved.get("participants", self.participants or 1))

        step_schedule = self.step_schedule or Constant(value=1.0)
        if "step_size" in solved:
            step_factor = solved["step_size"] / largest(step_schedule)
            step_schedule = scale_schedule(step_schedule, step_factor)

        noise_schedule = self.noise_schedule or Constant(value=1.0)
        if "noise_std" in solved:
            steps = max(self.clients // participants, 1)
            noise_factor = solved["noise_std"] / noise_schedule.least(steps)
            noise_schedule = scale_schedule(noise_schedule, noise_factor)
        return RunSchedules(participants=participants, step_schedule=step_schedule, noise_schedule=noise_schedule)

    def spec(self, plan: RunSchedules) -> ProjectedSgd:
        """Describe the mechanism of a run, projected SGD in one pass over the clients, so that δ can be computed.

        Args:
            plan: the batch size, the step sizes and the noises.

        Raises:
            InvalidInput: no run has these numbers.
        """
        return ProjectedSgd(
            clients=self.clients,
            participants=plan.participants,
            lipschitz=self.lipschitz,
            radius=self.radius,
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            convex=self.convex,
            step_schedule=plan.step_schedule,
            noise_schedule=plan.noise_schedule,
            release=self.release,
            suffix_fraction=self.suffix_fraction,
        )


def largest(schedule: AnySchedule) -> float:
    """Return the largest value of a schedule in any step."""
    if isinstance(schedule, Explicit):
        return float(max(schedule.values))
    return schedule.scale if isinstance(schedule, InverseTime) else schedule.value
