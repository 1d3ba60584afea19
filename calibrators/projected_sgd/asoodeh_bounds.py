"""The bounds on δ that Asoodeh et al. print for one pass of projected SGD, as functions of a run's schedules.

Theorem 2 and Corollary 3 depend on the diameter of the image of the domain, a ball of radius ρ, under a gradient step
of size η. The readings differ in this diameter: 2ρ (`statement`), 2(ρ + ηL) (`lipschitz`), 2 min(ρ(1 + ηβ), ρ + ηL)
(`smooth`) and 2 min(ρ max(|1 − ηλ|, |1 − ηβ|), ρ + ηL) (`strongly-convex`). L is the Lipschitz constant, β the
smoothness and λ the strong convexity of the losses. The correct diameter depends on the losses and on every step size.
Corollary 1 has a misprinted bound (`statement`), and bound (11) of its proof, in which all steps have the size of the
last one (`proof`). Corollary 3 sets σ⁴ = n for the noise σ and n clients (`experimental`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.json_types import Fields
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
    run_of_bound_11,
)
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, SMALL_STEPS, THEOREM_2, WHOLE_STEPS
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.projected_sgd.printed_bound import PrintedBound
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, Reading, RunSchedules
from epsilond.calibrators.projected_sgd.risk import corollary_inputs, has_inverse_time_steps
from epsilond.calibrators.projected_sgd.theorem_inputs import closed_form_pass, pass_with_losses, run_of, stated_pass


def printed_bounds(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[PrintedBound]:
    """Yield every bound on δ that Asoodeh et al. print for the losses and the released model of a request.

    Args:
        problem: the request, with the constants of the losses and the released model.
        plan: the run of the answer, for which the conditions on step sizes are checked.

    Yields:
        Bounds that differ in the assumed radius of the set to which a gradient step maps the domain. Then the bounds of
        Corollaries 1 and 3.
    """
    yield from _bounds_by_radius(problem, plan)
    yield from _corollaries(problem, plan)


@dataclass(frozen=True)
class _Pass:
    """One pass over n clients in batches of m, with the quantities that the conditions of the theorems refer to.

    Attributes:
        run: the run of projected SGD, for the relation replace-one.
        clients: number n of clients with one record each.
        participants: batch size m.
        steps: number ⌊n/m⌋ of steps.
    """

    run: ProjectedRun
    clients: int
    participants: int
    steps: int

    @classmethod
    def of(cls, problem: ProjectedSgdProblem, plan: RunSchedules) -> _Pass:
        """Return the pass of a request with the batch size and the schedules of a plan."""
        run = run_of(problem, plan)
        return cls(run, problem.clients, plan.participants, run.steps)


def _bounds_by_radius(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[PrintedBound]:
    """Yield bounds on δ that differ in the assumed radius of the set to which a gradient step maps the domain.

    The domain is a ball of radius ρ. Two bounds need the smoothness of the losses, and are left out without it.

    Args:
        problem: the request, with the constants of the losses.
        plan: the run of the answer, for which conditions are checked.

    Yields:
        Two bounds, or four if the losses are smooth; each is a function of the schedules.
    """
    yield _statement(problem, plan)
    yield _bound_by_losses(problem, "lipschitz", (), smoothness=None, strong_convexity=0.0, convex=True)
    smoothness, curvature = problem.smoothness, problem.strong_convexity
    if smoothness is None:
        return

    convex = _convex_condition(problem)
    smooth = _smooth_condition(problem)
    yield _bound_by_losses(problem, "smooth", (smooth,), smoothness=smoothness, strong_convexity=0.0, convex=False)
    yield _bound_by_losses(
        problem, "strongly-convex", (convex, smooth), smoothness=smoothness, strong_convexity=curvature, convex=True
    )


def _convex_condition(problem: ProjectedSgdProblem) -> ConditionResult:
    """Return the condition that the losses are convex, evaluated for the request."""
    return ConditionResult(CONVEX_LOSSES.id, CONVEX_LOSSES.statement, Verdict.of(problem.convex))


def _smooth_condition(problem: ProjectedSgdProblem) -> ConditionResult:
    """Return the condition that the losses are smooth, evaluated for the request."""
    return ConditionResult(SMOOTH_LOSSES.id, SMOOTH_LOSSES.statement, Verdict.of(problem.smoothness is not None))


def _statement(problem: ProjectedSgdProblem, plan: RunSchedules) -> PrintedBound:
    """Return Theorem 2 of Asoodeh et al. for the last model, or Corollary 3 for the model after a random step.

    Both assume that a gradient step maps the domain, a ball of radius ρ, to a set of diameter at most 2ρ. This is true
    for smooth convex losses and small steps.

    Args:
        problem: the request, with the released model.
        plan: the run of the answer, for which the conditions are checked.

    Returns:
        The bound as a function of the schedules, with its conditions.
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

    A gradient step is assumed to map the domain to a set of the same diameter. If a random model is released, all steps
    have the least step size and the least noise, as in the closed form (12) of the paper.

    Args:
        problem: the request, with the released model.
        plan: the batch size and the schedules.
    """
    run = run_of(problem, plan)
    if problem.release == "last":
        return replace(run, whole_ball=True)
    return _closed_form_run(run)


def _stated_log_delta(problem: ProjectedSgdProblem, plan: RunSchedules) -> float:
    """Return the natural log of the δ that Theorem 2 or Corollary 3 of Asoodeh et al. states at the target's ε.

    If all steps have the same step size and noise and the last model is released, the paper uses the real number n/m
    of steps in place of ⌊n/m⌋.

    Args:
        problem: the request, with n clients.
        plan: the batch size m and the schedules.
    """
    run = _whole_ball_run(problem, plan)  # with the assumption of the paper on the diameter after a step
    real_steps = None
    releases_last_model = run.stops == 1  # otherwise the run stops after a random one of several steps
    if run.constant and releases_last_model:
        real_steps = problem.clients / plan.participants
    return log_contraction_bound(problem.target.epsilon, run, passes=real_steps).upper


def _bound_by_losses(
    problem: ProjectedSgdProblem, reading: Reading, conditions: tuple[ConditionResult, ...], **losses: object
) -> PrintedBound:
    """Return a contraction bound on δ under given assumptions on the losses.

    The assumptions determine the radius of the set to which a gradient step maps the domain. The smaller this set is,
    the more a noisy step contracts, and the smaller is δ.

    Args:
        problem: the request, with the clients, the domain and the released model.
        reading: name of these assumptions in the answer.
        conditions: conditions on the losses under which the radius is valid.
        losses: assumed values of `smoothness`, `strong_convexity` and `convex`.

    Returns:
        The bound as a function of the schedules.
    """
    return PrintedBound(
        theorem=ANY_LOSSES,
        reading=reading,
        run=functools.partial(_run_with_losses, problem, losses),
        evaluation=functools.partial(pass_with_losses, problem, losses),
        radius_conditions=conditions,
    )


def _run_with_losses(problem: ProjectedSgdProblem, losses: Fields, plan: RunSchedules) -> ProjectedRun:
    """Return the run of a request with a plan's batch size and schedules, and with other fields about the losses."""
    return replace(run_of(problem, plan), **losses)


def _closed_form_run(run: ProjectedRun) -> ProjectedRun:
    """Return the run to which closed form (12) of Asoodeh et al. applies, for the model after a random step.

    Every step has the least step size and the least noise of the schedules. The image of the domain under a gradient
    step is assumed to have at most the diameter of the domain (`whole_ball`).

    Args:
        run: the run with its schedules.

    Returns:
        A copy of the run with these constant schedules and this assumption.
    """
    return replace(
        run,
        whole_ball=True,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )


def _corollaries(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[PrintedBound]:
    """Yield the bounds of Corollaries 1 and 3 of Asoodeh et al.

    They are for smooth λ-strongly convex losses, the step size 1/(λt) in step t, and equal noise in all steps. If the
    model after a random step is released, the bound is Corollary 3 with the noise of the paper's experiments. If the
    last model is released, there are two interpretations ("readings") of Corollary 1.

    Args:
        problem: the request, with the constants of the losses and the released model.
        plan: the run of the answer, with its schedules.

    Yields:
        At most two bounds as functions of the schedules; none for other losses or schedules.
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
    """Return Corollary 1 of Asoodeh et al. by bound (11) of its proof, in which all steps have the last step's size.

    Args:
        problem: the request, with the clients, the domain and the constants of the losses.
        reading: name of the interpretation.
        conditions: conditions on the step sizes.

    Returns:
        The bound as a function of the schedules.
    """
    return PrintedBound(
        theorem=COROLLARY_1,
        reading=reading,
        run=lambda schedules: run_of_bound_11(corollary_inputs(problem, schedules)),
        evaluation=lambda schedules: TheoremAtInputs(COROLLARY_1, corollary_inputs(problem, schedules)),
        radius_conditions=conditions,
        states_step_figures=False,
    )
