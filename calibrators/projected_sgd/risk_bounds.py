"""Risk bounds of projected-sgd: bounds for any schedules, Corollaries 1 and 2 of Asoodeh et al., and a lower bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Protocol

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PairTarget
from epsilond.accountants.specs.projected_sgd import first_step_of_suffix
from epsilond.accountants.theorem import Condition
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1
from epsilond.accountants.theorems.risk.asoodeh.convex_losses import CONVEX
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2
from epsilond.accountants.theorems.risk.asoodeh.scheduled_bound import INTERIOR, SCHEDULED_STOPS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.statements import CENTRAL_POPULATION
from epsilond.calibrators.cautions import assumption_cautions
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules
from epsilond.calibrators.projected_sgd.risk import start_of_run, utility_of
from epsilond.calibrators.risk.given_noise import (
    GivenNoiseRiskPart,
    NoisyRun,
    explicit_upper,
    hidden_upper,
    noise_quantity,
)
from epsilond.calibrators.risk.part import Bounds
from epsilond.calibrators.risk.parts import LowerBoundSetting, RiskFields, lower_bound

if TYPE_CHECKING:
    from epsilond.calibrators.projected_sgd.problem import AnySchedule
    from epsilond.calibrators.risk.answer import LowerBound, UpperBound

LEAST_NOISE_STD = 1e-90
"""Noise that replaces a smaller one, such as 0: schedules have positive values. Its effect is below rounding."""
STANDARD_STEPS = Condition(
    "standard-steps",
    "the step sizes and the released model are those of the standard analysis, which the text does not give",
    undecidable=True,
)
NOT_CONVEX = "no theorem bounds the excess risk of losses that are not convex"
GROWING_STEPS = (
    "no theorem here bounds the risk of the last model if step sizes increase and the risk is not strongly convex"
)


@request
class ProjectedSgdRiskProblem(PairTarget, ProjectedSgdProblem):
    """A run of projected-sgd. `noise_std` is the least noise of all steps, if the noise is solved for.

    `noise_schedule` is then a shape, constant if absent. Without `noise_std` the noise is the smallest certified one.
    """

    noise_std: Annotated[
        float | None,
        noise_quantity(
            "on one client's gradient, in the step where it is smallest",
            "noise_schedule, or the smallest certified noise",
        ),
    ] = None

    def check(self) -> None:
        """Check the fields of projected-sgd, and that `noise_std` is given only if the noise is the unknown.

        Raises:
            InvalidInput: one of these conditions fails.
        """
        super().check()
        if self.noise_std is not None and self.solve_for != "noise_std":
            message = "needs solve_for = noise_std: otherwise noise_schedule gives it"
            raise InvalidInput.at("/noise_std", message)


def given_run(problem: ProjectedSgdRiskProblem) -> NoisyRun | None:
    """Return the run at the noise that the request gives.

    Args:
        problem: the request. Its `noise_std` is the least noise of all steps.

    Returns:
        The run, with its batch size and schedules in `details`; None if the request leaves the noise open.
    """
    if problem.noise_std is None:
        return None
    plan = problem.plan(noise_std=max(problem.noise_std, LEAST_NOISE_STD))
    return _run(problem, plan, problem.noise_std)


class CertifiedSchedules(Protocol):
    """Protocol of the parameters of a calibration, one of which is the certified number.

    Attributes:
        noise_std: least standard deviation of one client's noise per coordinate, over all steps.
        participants: batch size.
        step_schedule: step size of each step.
        noise_schedule: standard deviation of one client's noise in each step.
    """

    noise_std: float
    participants: int
    step_schedule: AnySchedule
    noise_schedule: AnySchedule


def certified_run(problem: ProjectedSgdRiskProblem, parameters: CertifiedSchedules) -> NoisyRun:
    """Return the run with the batch size, schedules and noise of a calibration.

    Args:
        problem: the request, with the number of clients.
        parameters: parameters that the calibration of the request returned.

    Returns:
        The run, with its batch size and schedules in `details`.
    """
    plan = RunSchedules(
        participants=parameters.participants,
        step_schedule=parameters.step_schedule,
        noise_schedule=parameters.noise_schedule,
    )
    return _run(problem, plan, parameters.noise_std)


def _run(problem: ProjectedSgdRiskProblem, plan: RunSchedules, noise_std: float) -> NoisyRun:
    """Return the run of one pass over the clients, in the form that the risk bounds take.

    Args:
        problem: the request, with the number of clients.
        plan: the batch size, and the schedules of step sizes and noise. They become the `details` of the run.
        noise_std: least standard deviation of one client's noise per coordinate, over all steps.
    """
    steps = problem.clients // plan.participants
    return NoisyRun(noise_std=noise_std, rounds=steps, batch_size=plan.participants, details=plan)


def bounds(problem: ProjectedSgdRiskProblem, run: NoisyRun) -> Bounds:
    """Return upper bounds on the excess risk of the released model, and the order of a lower bound.

    The first upper bound holds for any schedules, and for a minimiser anywhere in the domain. It may be followed by a
    smaller one that needs an interior minimiser. Then there are the bounds of Asoodeh et al., with their known errors
    corrected. The lower bound is for a trusted server. Without convex losses, there is no bound.

    Args:
        problem: the request, with the losses, the domain and the released model.
        run: the run, with its batch size and schedules in `details`.

    Returns:
        The bounds, with the conditions that the caller must ensure, and with warnings.
    """
    plan: RunSchedules = run.details
    start = start_of_run(problem)
    if not problem.convex:
        return Bounds(upper=(), start=start, open_question=NOT_CONVEX)
    upper = (*_scheduled_bounds(problem, plan), *_printed_bounds(problem, plan))
    # A bound that needs an interior minimiser has this condition itself.
    declared = [condition for condition in SCHEDULED_STOPS.conditions if condition is not INTERIOR]
    uses_gradient_bounds = any(map(_has_gradient_bounds, upper))
    return Bounds(
        upper=upper,
        start=start,
        lower=(_lower_bound_for_clients(problem),),
        declared=tuple(declared) if upper else (),
        open_question=GROWING_STEPS,
        step_size=plan.step_schedule.constant,
        cautions=tuple(assumption_cautions(problem)) if uses_gradient_bounds else (),
    )


def _has_gradient_bounds(bound: UpperBound) -> bool:
    """Return whether a bound depends on the optional bounds on gradients, for which values may be assumed."""
    return bound.theorem in (COROLLARY_1.id, COROLLARY_2.id)


def _stops(problem: ProjectedSgdRiskProblem, steps: int) -> int | None:
    """Return the number of models of which one is released at random, if the pass releases a model of a suffix.

    Args:
        problem: the request. Its `suffix_fraction` α determines the suffix, the steps ⌈αT⌉ to T.
        steps: number T of steps of the pass.

    Returns:
        The number of steps of the suffix; None for other releases.
    """
    if problem.release != "suffix" or problem.suffix_fraction is None:
        return None
    return steps - first_step_of_suffix(problem.suffix_fraction, steps) + 1


def _scheduled_bounds(problem: ProjectedSgdRiskProblem, plan: RunSchedules) -> Iterator[UpperBound]:
    """Yield finite bounds on the excess risk that hold for any schedules.

    For the last model there are two. The second one needs an interior minimiser, at which the gradient is 0. It is
    yielded only if it is smaller.

    Args:
        problem: the request, with the clients, the losses and the released model.
        plan: the batch size and the schedules.

    Yields:
        Each bound with the conditions that it needs, as the sum of a term without noise and a term of the noise.
    """
    steps = problem.clients // plan.participants
    evaluation = TheoremAtInputs.of(
        SCHEDULED_STOPS,
        problem,
        clients=steps * plan.participants,
        participants=plan.participants,
        step_schedule=plan.step_schedule,
        noise_schedule=plan.noise_schedule,
        stops=_stops(problem, steps),
    )
    evaluation_without_noise = TheoremAtInputs(SCHEDULED_STOPS, replace(evaluation.inputs, noise_schedule=None))

    # Additional conditions of each bound, by the name of the theorem's output.
    conditions_of_bound: dict[str, tuple[Condition, ...]] = {"excess_risk_at_random_stop": ()}
    if problem.release == "last":
        conditions_of_bound = {"excess_risk_of_last": (), "excess_risk_of_last_if_interior": (INTERIOR,)}

    least = math.inf
    for name, conditions in conditions_of_bound.items():
        value = float(evaluation.outputs.get(name, math.inf))
        if value < least:
            least = value
            without_noise = float(evaluation_without_noise.outputs[name])
            terms = {"without_noise": without_noise, "noise": max(value - without_noise, 0.0)}
            results = [condition.at(evaluation.inputs) for condition in conditions]
            yield explicit_upper(SCHEDULED_STOPS, terms, value=value, conditions=results)


def _printed_bounds(problem: ProjectedSgdRiskProblem, plan: RunSchedules) -> Iterator[UpperBound]:
    """Yield the risk bound of Asoodeh et al. that applies to the request, if there is one.

    It is that of Corollary 1 or 2. If neither applies, and the losses are not strongly convex, it is an order of
    growth.

    Args:
        problem: the request, with the losses and the released model.
        plan: the batch size and the schedules.

    Yields:
        At most one bound, with explicit constants or as an order of growth.
    """
    utility = utility_of(problem, plan)
    if utility.risk is not None and utility.risk.upper is not None:
        bound = utility.risk.upper
        theorem = COROLLARY_1 if bound.theorem == COROLLARY_1.id else COROLLARY_2
        results = [condition.at(problem) for condition in utility.declared]
        if bound.constant == "explicit":
            yield explicit_upper(theorem, bound.terms, value=bound.value, reading="corrected", conditions=results)
        else:
            yield hidden_upper(theorem, bound.value, bound.terms, reading="corrected", conditions=results)
    elif problem.strong_convexity == 0.0:
        order = TheoremAtInputs.of(CONVEX, problem, participants=plan.participants)
        scale = float(order.outputs["excess_risk_scale"])
        undecidable = [condition.at(order.inputs) for condition in (*CONVEX.conditions, STANDARD_STEPS)]
        yield hidden_upper(CONVEX, scale, {}, conditions=undecidable)


def _lower_bound_for_clients(problem: ProjectedSgdRiskProblem) -> LowerBound:
    """Return the order of the lower bound on the population risk for a trusted server and clients with one record each.

    Args:
        problem: the request, with its target (ε, δ) and the constants of the loss.

    Returns:
        The lower bound up to a hidden constant.
    """
    target = problem.target
    setting = LowerBoundSetting(
        epsilon=target.epsilon,
        log10_delta=target.log10_delta,
        samples_per_client=1,
        clients=problem.clients,
        dimension=problem.dimension,
        lipschitz=problem.lipschitz,
        diameter=2.0 * problem.radius,
        strong_convexity=problem.strong_convexity,
    )
    fields = RiskFields(problem="population", gradient_std=problem.gradient_std, radius=problem.radius)
    return lower_bound(fields, setting, "central")


RISK = GivenNoiseRiskPart(
    title="Excess risk of one pass of projected SGD",
    summary=(
        "An upper bound with explicit constants for any step sizes and noises, and Corollaries 1 and 2 with their "
        "known errors corrected. The order of the central lower bound is given for comparison (Asoodeh et al. 2021)."
    ),
    problem=ProjectedSgdRiskProblem,
    theorems=(SCHEDULED_STOPS.id, COROLLARY_1.id, COROLLARY_2.id, CONVEX.id),
    lower_theorems=(CENTRAL_POPULATION.id,),
    example_fields={"noise_std": 0.3},
    given_run=given_run,
    certified_run=certified_run,
    bounds=bounds,
)
