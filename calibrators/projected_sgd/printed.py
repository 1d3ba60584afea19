"""The bounds of Asoodeh et al. as printed, at the noise that they require, with their status: valid or refuted.

Theorem 2 and Corollary 3 depend on the diameter of the image of the domain, a ball of radius ρ, under a gradient step
of size η. The readings differ in this diameter: 2ρ (`statement`), 2(ρ + ηL) (`lipschitz`), 2 min(ρ(1 + ηβ), ρ + ηL)
(`smooth`) and 2 min(ρ max(|1 − ηλ|, |1 − ηβ|), ρ + ηL) (`strongly-convex`). L is the Lipschitz constant, β the
smoothness and λ the strong convexity of the losses. The correct diameter depends on the losses and on every step size.
Corollary 1 has a misprinted bound (`statement`), and bound (11) of its proof, in which all steps have the size of the
last one (`proof`). Corollary 3 sets σ⁴ = n for the noise σ and n clients (`experimental`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.json_types import Fields
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.schedules import Constant
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    ANY_LOSSES,
    CONVEX_LOSSES,
    SMOOTH_LOSSES,
    log_contraction_bound,
)
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import (
    COROLLARY_1,
    misprinted_log_delta,
    risk_terms,
    run_of_bound_11,
)
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, SMALL_STEPS, THEOREM_2, WHOLE_STEPS
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Claims, PrintedReading
from epsilond.calibrators.envelope import TheoremAtInputs, claims, condition_answers
from epsilond.calibrators.projected_sgd.printed_bound import PrintedBound
from epsilond.calibrators.projected_sgd.printed_noise import least_log_factor
from epsilond.calibrators.projected_sgd.problem import (
    READINGS,
    ProjectedSgdProblem,
    Reading,
    RunSchedules,
    scale_schedule,
)
from epsilond.calibrators.projected_sgd.risk import corollary_inputs, has_inverse_time_steps
from epsilond.calibrators.projected_sgd.theorem_inputs import closed_form_pass, pass_with_losses, stated_pass
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


@dataclass(frozen=True)
class _Pass:
    """One pass over n clients in batches of m, with the quantities that the conditions of the theorems refer to."""

    run: ProjectedRun
    clients: int
    participants: int
    steps: int

    @classmethod
    def of(cls, problem: ProjectedSgdProblem, plan: RunSchedules) -> _Pass:
        """Return the pass of a request in the run of a plan."""
        run = run_of(problem, plan)
        return cls(run, problem.clients, plan.participants, run.steps)


def readings(
    problem: ProjectedSgdProblem, plan: RunSchedules, truth: Callable[[RunSchedules], TrueFigures | None]
) -> tuple[PrintedReading, ...]:
    """Evaluate the bounds that Asoodeh et al. print, each at the noise that it requires for the target.

    Each keeps the batch size and the steps of the answer, and has its own noise. Next to its claim is the guarantee
    that is certified at that noise. A bound has the status `refuted` if one of its conditions fails.

    Args:
        problem: the request, which may restrict the readings (interpretations of the bounds).
        plan: the run of the answer.
        truth: function that certifies the ε and δ of a run; it returns None if these are not requested.
    """
    requested = READINGS if problem.readings is None else problem.readings
    cached_truth = functools.cache(truth)
    bounds = itertools.chain(_bounds_by_radius(problem, plan), _corollaries(problem, plan))
    return tuple(_answer(problem, plan, printed, cached_truth) for printed in bounds if printed.reading in requested)


def run_of(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedRun:
    """Return the run of a plan for the relation replace-one, which the theorems assume."""
    return ProjectedRun.of(problem.spec(plan), "replace-one")


# The four radii -----------------------------------------------------------------------------------------------------
def _bounds_by_radius(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[PrintedBound]:
    """Yield bounds that differ in the radius they assume for the domain's image under a gradient step.

    The domain is a ball of radius ρ. Two bounds need the smoothness of the losses, and are left out without it.
    """
    yield _statement(problem, plan)
    yield _bound_by_losses(problem, "lipschitz", (), smoothness=None, strong_convexity=0.0, convex=True)
    beta, curvature = problem.smoothness, problem.strong_convexity
    if beta is None:
        return
    convex = _convex_condition(problem)
    smooth = _smooth_condition(problem)
    yield _bound_by_losses(problem, "smooth", (smooth,), smoothness=beta, strong_convexity=0.0, convex=False)
    yield _bound_by_losses(
        problem, "strongly-convex", (convex, smooth), smoothness=beta, strong_convexity=curvature, convex=True
    )


def _convex_condition(problem: ProjectedSgdProblem) -> ConditionResult:
    """Return the condition that the losses are convex, evaluated for the request."""
    return ConditionResult(CONVEX_LOSSES.id, CONVEX_LOSSES.statement, Verdict.of(problem.convex))


def _smooth_condition(problem: ProjectedSgdProblem) -> ConditionResult:
    """Return the condition that the losses are smooth, evaluated for the request."""
    return ConditionResult(SMOOTH_LOSSES.id, SMOOTH_LOSSES.statement, Verdict.of(problem.smoothness is not None))


def _statement(problem: ProjectedSgdProblem, plan: RunSchedules) -> PrintedBound:
    """Return Theorem 2 of Asoodeh et al. for the last model, or Corollary 3 for the model after a random step.

    Both assume that a gradient step maps the domain, a ball of radius ρ, to a set of diameter 2ρ.

    Args:
        problem: the request, with the released model.
        plan: the run of the answer, for which the conditions are checked.
    """
    one_pass = _Pass.of(problem, plan)
    return PrintedBound(
        theorem=THEOREM_2 if problem.release == "last" else COROLLARY_3,
        reading="statement",
        run=functools.partial(_whole_ball_run, problem),
        bound=functools.partial(_stated_log_delta, problem),
        evaluation=functools.partial(stated_pass, problem),
        radius_conditions=(_convex_condition(problem), _smooth_condition(problem), SMALL_STEPS.at(one_pass)),
        other_conditions=(WHOLE_STEPS.at(one_pass),),
    )


def _whole_ball_run(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedRun:
    """Return the simplified run for which Theorem 2 or Corollary 3 of Asoodeh et al. computes its bound.

    It assumes that the domain's image under a gradient step has the diameter of the domain. If a random model is
    released, all steps have the least step size and noise, as in the closed form (12) of the paper.

    Args:
        problem: the request.
        plan: the batch size and the schedules.
    """
    run = run_of(problem, plan)
    return replace(run, whole_ball=True) if problem.release == "last" else _closed_form_run(run)


def _stated_log_delta(problem: ProjectedSgdProblem, plan: RunSchedules) -> float:
    """Evaluate the δ that Theorem 2 or Corollary 3 of Asoodeh et al. states at the target's ε; return log δ.

    For equal steps and the last model the paper uses the real number n/m of steps in place of ⌊n/m⌋.

    Args:
        problem: the request, with n clients.
        plan: the batch size m and the schedules.
    """
    run = _whole_ball_run(problem, plan)
    real_steps = None
    if run.constant and run.stops == 1:
        real_steps = problem.clients / plan.participants
    return log_contraction_bound(problem.target.epsilon, run, passes=real_steps).upper


def _bound_by_losses(
    problem: ProjectedSgdProblem, reading: Reading, conditions: tuple[ConditionResult, ...], **losses: object
) -> PrintedBound:
    """Return a contraction bound on δ; assumptions on the losses give the radius of the domain's image.

    Args:
        problem: the request.
        reading: name of these assumptions in the answer.
        conditions: conditions on the losses under which the radius is valid.
        losses: smoothness, strong_convexity and convex, as they are assumed.
    """
    return PrintedBound(
        theorem=ANY_LOSSES,
        reading=reading,
        run=functools.partial(_run_with_losses, problem, losses),
        evaluation=functools.partial(pass_with_losses, problem, losses),
        radius_conditions=conditions,
    )


def _run_with_losses(problem: ProjectedSgdProblem, losses: Fields, plan: RunSchedules) -> ProjectedRun:
    """Return the run of a plan with other assumptions on the losses.

    Args:
        problem: the request.
        losses: fields of the run that describe the losses.
        plan: the batch size and the schedules.
    """
    return replace(run_of(problem, plan), **losses)


def _closed_form_run(run: ProjectedRun) -> ProjectedRun:
    """Return the run of closed form (12) of Asoodeh et al.: every step has the least step size and noise of the pass.

    Each step is assumed to map the domain, a ball, into itself. The form is for the model after a random step.
    """
    return replace(
        run,
        whole_ball=True,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )


# The corollaries ----------------------------------------------------------------------------------------------------
def _corollaries(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[PrintedBound]:
    """Yield the bounds of Corollaries 1 and 3 of Asoodeh et al.

    They are for smooth λ-strongly convex losses, the step size 1/(λt) in step t, and equal noise in all steps. For a
    random model the bound is Corollary 3 with the noise of the paper's experiments. For the last model there are two
    readings of Corollary 1. Nothing is yielded for other losses or schedules.
    """
    has_equal_noise = plan.noise_schedule.constant is not None
    has_such_losses = problem.smoothness is not None and problem.convex
    if not (has_such_losses and has_equal_noise and has_inverse_time_steps(problem, plan)):
        return
    conditions = (SMALL_STEPS.at(_Pass.of(problem, plan)),)
    if problem.release == "random-stop":
        yield PrintedBound(
            theorem=COROLLARY_3,
            reading="experimental",
            run=lambda schedules: _closed_form_run(run_of(problem, schedules)),
            evaluation=functools.partial(closed_form_pass, problem),
            radius_conditions=conditions,
            fixed_noise=problem.clients**0.25,  # σ⁴ = n, as in the experiments
            states_step_figures=False,
        )
    if problem.release == "last":
        misprinted = _corollary_1(problem, "statement", conditions)
        yield replace(
            misprinted,
            bound=lambda schedules: misprinted_log_delta(corollary_inputs(problem, schedules)),
            status=Status.REFUTED,
        )
        yield _corollary_1(problem, "proof", conditions)


def _corollary_1(
    problem: ProjectedSgdProblem, reading: Reading, conditions: tuple[ConditionResult, ...]
) -> PrintedBound:
    """Return Corollary 1 of Asoodeh et al., with bound (11) of its proof: all steps have the size of the last one.

    Args:
        problem: the request.
        reading: name of the interpretation.
        conditions: conditions on the step sizes.
    """
    return PrintedBound(
        theorem=COROLLARY_1,
        reading=reading,
        run=lambda schedules: run_of_bound_11(corollary_inputs(problem, schedules)),
        evaluation=lambda schedules: TheoremAtInputs(COROLLARY_1, corollary_inputs(problem, schedules)),
        radius_conditions=conditions,
        states_step_figures=False,
    )


# One reading --------------------------------------------------------------------------------------------------------
def _answer(
    problem: ProjectedSgdProblem,
    plan: RunSchedules,
    printed: PrintedBound,
    truth: Callable[[RunSchedules], TrueFigures | None],
) -> PrintedReading:
    """Describe a bound that a paper prints: the noise that it prescribes, its claims, and the certified ε and δ there.

    Args:
        problem: the request.
        plan: the run of the answer.
        printed: the printed bound.
        truth: function that certifies the ε and δ of a run; it returns None if these are not requested.
    """
    printed_plan = _plan_at_printed_noise(problem, plan, printed)
    noise = printed_plan.least_noise(problem.clients)
    parameters = {
        "noise_std": noise,
        "noise_multiplier": noise / problem.lipschitz,
        "steps": float(problem.spec(printed_plan).steps),
    }
    if printed.states_step_figures:
        parameters |= _step_figures(printed.run(printed_plan), problem.target.epsilon)
    excess_risk = None
    if printed.theorem is COROLLARY_1:
        excess_risk = math.fsum(risk_terms(corollary_inputs(problem, printed_plan), "printed").values())
    is_valid = all(condition.holds == Verdict.YES for condition in printed.radius_conditions)
    evaluation = printed.evaluation(printed_plan)
    return PrintedReading(
        theorem=printed.theorem.id,
        reading=printed.reading,
        status=printed.status if is_valid else Status.REFUTED,
        parameters=parameters,
        claims=_claims(problem.target, printed.log_delta(problem.target.epsilon, printed_plan), excess_risk),
        true=truth(printed_plan),
        conditions=condition_answers(printed.radius_conditions + printed.other_conditions),
        evaluations=() if evaluation is None else (evaluation.served,),
    )


def _step_figures(run: ProjectedRun, epsilon: float) -> dict[str, float]:
    """Return two figures of a gradient step, each the largest of all steps of a run.

    They are the diameter of the domain's image under the step, and the contraction coefficient: the factor of the noisy
    step on the hockey-stick divergence E_{e^ε}.

    Args:
        run: the run by which the bound models the schedules.
        epsilon: ε of the divergence.
    """
    steps = 1 if run.constant else run.steps
    largest_diameter = float(run.image_diameter(run.step_schedule.at(1, steps)).max())
    _, contraction_shifts = run.shifts(1, steps)
    log_contraction = float(log_theta(epsilon, float(contraction_shifts.max())))
    return {"image_diameter": largest_diameter, "contraction": math.exp(log_contraction)}


def _claims(target: Target, log_delta: float, excess_risk: float | None) -> Claims:
    """Return the (ε, δ) that a printed bound claims for the run with the noise that it prescribes.

    It is the target itself if the claimed δ is that of the target within the accuracy of the search for the noise.

    Args:
        target: the target (ε, δ); the claim is at its ε.
        log_delta: log of the δ that the bound claims.
        excess_risk: claimed bound on the excess risk, if any.
    """
    finite_log_delta = max(log_delta, LEAST_LOG_DELTA)
    if abs(finite_log_delta - target.log_delta) <= CLAIM_TOLERANCE * (1.0 + abs(finite_log_delta)):
        return claims(target, excess_risk)
    return Claims(
        epsilon=target.epsilon,
        delta=math.exp(finite_log_delta) if finite_log_delta > LEAST_DOUBLE_LOG_DELTA else None,
        log10_delta=finite_log_delta / LOG_10,
        excess_risk=excess_risk,
    )


def _plan_at_printed_noise(problem: ProjectedSgdProblem, plan: RunSchedules, printed: PrintedBound) -> RunSchedules:
    """Return the run with the smallest noise at which a printed bound claims to meet the target.

    The noise schedule is scaled as a whole. The run is unchanged if no noise within the factor 10⁸ meets the target, if
    the changing steps are too many to search, or if its own noise is the smallest up to `SAME_NOISE`.

    Args:
        problem: the request, with the target.
        plan: the run of the answer.
        printed: the printed bound. If it fixes the noise, the run has that noise.
    """

    def plan_at(log_factor: float) -> RunSchedules:
        """Return the plan with its noise multiplied by the exponential of `log_factor`."""
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
