"""The bounds of Asoodeh et al. as printed, at the noise that they require, with their status: valid or refuted.

`asoodeh_bounds` has the bounds as functions of a run's schedules. Here each is solved for its noise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1, risk_terms
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Claims, PrintedReading
from epsilond.calibrators.envelope import claims, condition_answers
from epsilond.calibrators.projected_sgd.asoodeh_bounds import printed_bounds
from epsilond.calibrators.projected_sgd.printed_bound import PrintedBound
from epsilond.calibrators.projected_sgd.printed_noise import least_log_factor
from epsilond.calibrators.projected_sgd.problem import (
    READINGS,
    ProjectedSgdProblem,
    RunSchedules,
    scale_schedule,
)
from epsilond.calibrators.projected_sgd.risk import corollary_inputs
from epsilond.calibrators.projected_sgd.theorem_inputs import run_of
from epsilond.calibrators.targets.failures import LOG_10

if TYPE_CHECKING:
    from epsilond.accountants.target import Target
    from epsilond.calibrators.answer import TrueFigures

MOST_SOLVED_STEPS = 2**14
"""Largest number of steps of changing size whose noise is solved for; else a bound is read at the answer's noise."""
SAME_NOISE = 1e-6
"""Difference of log noise that is due to the searches' tolerance: the bound is then that of the answer."""
LARGEST_EXCESS = 1e6
"""Limit on the size of an excess of log δ, so that interpolation uses finite numbers."""
LEAST_LOG_DELTA = -1e300
"""Least log δ that is claimed, so that an infinite one is not served."""
LEAST_DOUBLE_LOG_DELTA = -708.0
"""Least log δ whose δ is served: the exponential of a smaller one is not a normal double."""
CLAIM_TOLERANCE = 1e-6
"""Relative difference of log δ from the target's below which a bound claims the target: the tolerance of the search."""


def readings(
    problem: ProjectedSgdProblem, plan: RunSchedules, truth: Callable[[RunSchedules], TrueFigures | None]
) -> tuple[PrintedReading, ...]:
    """Evaluate the bounds that Asoodeh et al. print, each at the noise that it requires for the target.

    Each bound is for the batch size and the steps of the answer. Next to its claim is the guarantee that is certified
    at its noise. A bound has the status `refuted` if a condition on its radius does not hold.

    Args:
        problem: the request, which may select some readings, that is, interpretations of the bounds.
        plan: the run of the answer.
        truth: function that certifies the ε and δ of a run; it returns None if these are not requested.

    Returns:
        One reading for each requested bound that applies to the losses and the released model.
    """
    requested = READINGS if problem.readings is None else problem.readings
    cached_truth = functools.cache(truth)
    return tuple(
        _answer(problem, plan, printed, cached_truth)
        for printed in printed_bounds(problem, plan)
        if printed.reading in requested
    )


def _answer(
    problem: ProjectedSgdProblem,
    plan: RunSchedules,
    printed: PrintedBound,
    truth: Callable[[RunSchedules], TrueFigures | None],
) -> PrintedReading:
    """Evaluate a paper's bound on δ at the noise that it prescribes for the target.

    This is the noise that the paper fixes, or the least noise at which the bound meets the target.

    Args:
        problem: the request, with the clients, the Lipschitz constant and the privacy target.
        plan: the run of the answer.
        printed: the printed bound.
        truth: function that certifies the ε and δ of a run; it returns None if these are not requested.

    Returns:
        The bound's noise, its claims, its conditions, and the certified ε and δ.
    """
    epsilon = problem.target.epsilon
    printed_plan = _plan_at_printed_noise(problem, plan, printed)
    noise = printed_plan.least_noise(problem.clients)
    parameters = {
        "noise_std": noise,
        "noise_multiplier": noise / problem.lipschitz,
        "steps": float(problem.spec(printed_plan).steps),
    }
    if printed.states_step_figures:
        parameters |= _step_figures(printed.run(printed_plan), epsilon)

    # Only Corollary 1 also claims an excess risk.
    excess_risk = None
    if printed.theorem is COROLLARY_1:
        excess_risk = math.fsum(risk_terms(corollary_inputs(problem, printed_plan), "printed").values())
    claimed = _claims(problem.target, printed.log_delta(epsilon, printed_plan), excess_risk)

    # The bound is refuted if a condition on the radius is not known to hold.
    is_valid = all(condition.holds == Verdict.YES for condition in printed.radius_conditions)
    evaluation = printed.evaluation(printed_plan)
    return PrintedReading(
        theorem=printed.theorem.id,
        reading=printed.reading,
        status=printed.status if is_valid else Status.REFUTED,
        parameters=parameters,
        claims=claimed,
        true=truth(printed_plan),
        conditions=condition_answers(printed.radius_conditions + printed.other_conditions),
        evaluations=() if evaluation is None else (evaluation.served,),
    )


def _step_figures(run: ProjectedRun, epsilon: float) -> dict[str, float]:
    """Return the diameter after a gradient step and the contraction of a noisy step, each the largest over all steps.

    Args:
        run: the projected SGD run with the assumptions of the paper's bound.
        epsilon: ε of the hockey-stick divergence E_{e^ε}(P‖Q) = sup_A P(A) − e^ε Q(A), at least 0.

    Returns:
        `image_diameter`: diameter of the domain's image under the step, in the unit of the model.
        `contraction`: factor, at most 1, by which the noisy step reduces the divergence of two models' distributions.
    """
    steps = 1 if run.constant else run.steps
    largest_diameter = float(run.image_diameter(run.step_schedule.at(1, steps)).max())
    _, contraction_shifts = run.shifts(1, steps)
    log_contraction = float(log_theta(epsilon, float(contraction_shifts.max())))
    return {"image_diameter": largest_diameter, "contraction": math.exp(log_contraction)}


def _claims(target: Target, log_delta: float, excess_risk: float | None) -> Claims:
    """Return the (ε, δ) that a paper's bound claims for the run with the noise that the paper prescribes.

    It is the target itself if the claimed δ agrees with that of the target within the accuracy of the search for the
    noise.

    Args:
        target: the target (ε, δ); the claim is at its ε.
        log_delta: natural logarithm of the δ that the bound claims.
        excess_risk: claimed bound on the excess risk; None without a claim.

    Returns:
        The claim, with log₁₀ δ, and with δ itself unless it is too small for a double.
    """
    finite_log_delta = max(log_delta, LEAST_LOG_DELTA)
    tolerance = CLAIM_TOLERANCE * (1.0 + abs(finite_log_delta))
    if abs(finite_log_delta - target.log_delta) <= tolerance:
        return claims(target, excess_risk)
    delta = math.exp(finite_log_delta) if finite_log_delta > LEAST_DOUBLE_LOG_DELTA else None
    return Claims(
        epsilon=target.epsilon,
        delta=delta,
        log10_delta=finite_log_delta / LOG_10,
        excess_risk=excess_risk,
    )


def _plan_at_printed_noise(problem: ProjectedSgdProblem, plan: RunSchedules, printed: PrintedBound) -> RunSchedules:
    """Return the run with the smallest noise at which a paper's bound on δ claims to meet the target.

    The noises of all steps are multiplied by one factor. The run is unchanged if the search finds no factor between
    10⁻⁸ and 10⁸, or if the factor is 1 up to `SAME_NOISE`. It is also unchanged if there are too many different steps
    to search.

    Args:
        problem: the request, with the target.
        plan: the run of the answer.
        printed: the printed bound. If it fixes the noise, the run has that noise.

    Returns:
        The run with its noise scaled, and with the batch size and the steps of `plan`.
    """

    def plan_at(log_factor: float) -> RunSchedules:
        """Return the run with its noise multiplied by e^`log_factor`."""
        return replace(plan, noise_schedule=scale_schedule(plan.noise_schedule, math.exp(log_factor)))

    if printed.fixed_noise is not None:
        return plan_at(math.log(printed.fixed_noise / plan.least_noise(problem.clients)))
    run = run_of(problem, plan)
    if not run.constant and run.steps > MOST_SOLVED_STEPS:
        return plan

    @functools.cache
    def excess(log_factor: float) -> float:
        """Return by how much the claimed log δ exceeds the target's, cut to ±`LARGEST_EXCESS`."""
        value = printed.log_delta(problem.target.epsilon, plan_at(log_factor)) - problem.target.log_delta
        return min(max(value, -LARGEST_EXCESS), LARGEST_EXCESS)

    log_factor = least_log_factor(excess)
    if log_factor is None or abs(log_factor) <= SAME_NOISE:
        return plan
    return plan_at(log_factor)
