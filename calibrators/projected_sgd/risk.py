"""The excess risk that Corollaries 1 and 2 of Asoodeh et al. give a run, with the noise of every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.schedules import InverseTime
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import (
    COROLLARY_1,
    InverseTimeSteps,
    risk_terms,
)
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2
from epsilond.calibrators.answer import Risk, RiskBound
from epsilond.calibrators.envelope import TheoremAtInputs, inputs_of
from epsilond.calibrators.risk.baseline import Start, start_of

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.projected_sgd.problem import AnySchedule, ProjectedSgdProblem, RunSchedules

STEP_ROUNDING = 1e-12
"""Relative difference between two step sizes that counts as rounding."""


@dataclass(frozen=True)
class ProjectedSgdUtility:
    """A bound on the excess risk of the released model, or the reason why there is none.

    Attributes:
        risk: the bound; None without one.
        declared: conditions of the bound, which the caller declares to hold.
        reason: why no theorem applies; None if there is a bound.
    """

    risk: Risk | None
    declared: tuple[Condition, ...] = ()
    reason: str | None = None


def start_of_run(problem: ProjectedSgdProblem) -> Start:
    """Bound the excess risk of the initial model, before training.

    The domain is a ball of radius ρ, so the initial model is at most 2ρ from the minimiser.

    Args:
        problem: the request, with the radius, the Lipschitz constant and the strong convexity of the loss.

    Returns:
        The bound on the population excess risk, with the quantities that it is derived from.
    """
    return start_of(
        "population",
        distance=2.0 * problem.radius,
        distance_symbol="2ρ",
        lipschitz=problem.lipschitz,
        strong_convexity=problem.strong_convexity if problem.convex else 0.0,
    )


def has_inverse_time_steps(problem: ProjectedSgdProblem, plan: RunSchedules) -> bool:
    """Decide whether step t has the size 1/(λt) for strong convexity λ, as in Corollaries 1 to 3 of Asoodeh et al.

    Args:
        problem: the request, with λ.
        plan: the run, with its step sizes.
    """
    steps, curvature = plan.step_schedule, problem.strong_convexity
    if not isinstance(steps, InverseTime) or curvature == 0.0:
        return False
    # The product differs from 1 by rounding only.
    return abs(steps.scale * curvature - 1.0) <= STEP_ROUNDING


def corollary_inputs(problem: ProjectedSgdProblem, plan: RunSchedules) -> InverseTimeSteps:
    """Return the inputs of Corollary 1 of Asoodeh et al. for a run, at the least noise of its steps.

    Clients that are in no whole batch are not counted.

    Args:
        problem: the request, with the constants of the losses.
        plan: the run, with its batch size, step sizes and noises.
    """
    steps = problem.clients // plan.participants
    return inputs_of(
        InverseTimeSteps,
        problem,
        clients=steps * plan.participants,
        participants=plan.participants,
        noise_std=plan.least_noise(problem.clients),
    )


def utility_of(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedSgdUtility:
    """Return the bound on the excess risk of the released model, or the reason why there is none.

    The bound is Corollary 1 of Asoodeh et al. for the last model, and Corollary 2 for the model after a random step.

    Args:
        problem: the request, with the constants of the losses and the released model.
        plan: the batch size and the schedules.

    Returns:
        The bound with its conditions, or the reason.
    """
    if problem.smoothness is None or not problem.convex or problem.strong_convexity == 0.0:
        return ProjectedSgdUtility(
            None, reason="without strong convexity and smoothness only an order is known, O(1/√T)"
        )
    if problem.release == "last":
        return _last_model_utility(problem, plan)
    if problem.release == "random-stop":
        return _mean_model_utility(problem, plan)
    return ProjectedSgdUtility(None, reason="no statement speaks of the model of a suffix")


def _last_model_utility(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedSgdUtility:
    """Bound the excess risk of the last model by Corollary 1 of Asoodeh et al., with its errors corrected.

        2β(mD² + G² + dσ²)/(λ² m T)

    Here β is the smoothness and λ the strong convexity. T is the number of steps, m the batch size, d the dimension,
    and σ the noise of one record. D bounds the norm of the mean gradient, and G the standard deviation of gradients.
    The bound needs the step size 1/(λt) in step t, and equal noise in all steps.

    Args:
        problem: the request, with the constants of the losses and the clients.
        plan: the run, with its batch size, step sizes and noises.

    Returns:
        The bound, or the reason why there is none.
    """
    if plan.noise_schedule.constant is None or not has_inverse_time_steps(problem, plan):
        return ProjectedSgdUtility(None, reason="Corollary 1 bounds the risk for η_t = 1/(λt) and one noise")
    terms = risk_terms(corollary_inputs(problem, plan), "corrected")
    bound = RiskBound(value=math.fsum(terms.values()), constant="explicit", theorem=COROLLARY_1.id, terms=terms)
    declared = tuple(condition for condition in COROLLARY_1.conditions if condition.id == "interior-minimiser")
    return ProjectedSgdUtility(Risk(upper=bound), declared)


def _mean_model_utility(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedSgdUtility:
    """Bound the excess risk of the model after a random step, by Corollary 2 of Asoodeh et al.

    The step is uniformly distributed, so that this is the mean excess risk over all steps. The corollary uses a theorem
    of Shamir with a constant that no paper states. If the request does not state it either, the bound is an order.

    Args:
        problem: the request, with the losses, the clients and possibly the constant.
        plan: the run, with its batch size, step sizes and noises.

    Returns:
        The bound, or the reason why there is none.
    """
    steps = problem.clients // plan.participants
    if steps == 1:
        return ProjectedSgdUtility(None, reason="Corollary 2 has the factor log(n/m), 0 for a single step")
    if not isinstance(plan.step_schedule, InverseTime):
        return ProjectedSgdUtility(None, reason="Corollary 2 bounds the risk for steps that fall as 1/t")
    outputs = TheoremAtInputs.of(
        COROLLARY_2,
        problem,
        "corrected",
        clients=steps * plan.participants,
        participants=plan.participants,
        step_sizes=_values_of(plan.step_schedule, steps),
        noise_stds=_values_of(plan.noise_schedule, steps),
        shamir_constant=problem.shamir_constant or 1.0,
    ).outputs
    # The theorem that the corollary uses does not cover batches, whatever its constant.
    is_explicit = problem.shamir_constant is not None and plan.participants == 1
    bound = RiskBound(
        value=float(outputs["excess_risk"]),
        constant="explicit" if is_explicit else "hidden",
        theorem=COROLLARY_2.id,
        terms={"optimisation": float(outputs["optimisation_term"]), "noise": float(outputs["noise_term"])},
    )
    return ProjectedSgdUtility(Risk(upper=bound), COROLLARY_2.conditions)


def _values_of(schedule: AnySchedule, steps: int) -> tuple[float, ...]:
    """Return the values of a schedule in all steps, or only one value if it is constant."""
    if schedule.constant is not None:
        return (schedule.constant,)
    return tuple(map(float, schedule.at(1, steps)))
