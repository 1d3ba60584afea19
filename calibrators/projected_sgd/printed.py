"""The bounds of Asoodeh et al. as printed, at the noise that they require, with their status: valid or refuted.

All are Theorem 2 or Corollary 3 with a radius of the image of the ball: 2ρ (`statement`), 2(ρ + ηL) (`lipschitz`),
2 min(ρ(1 + ηβ), ρ + ηL) (`smooth`) and 2 min(ρ max(|1 − ηλ|, |1 − ηβ|), ρ + ηL) (`strongly-convex`). Which of these is
the truth depends on the losses and on every step size. Corollary 1 has a misprinted one (`statement`), and one with
the last step's size for all (`proof`, its bound (11)); Corollary 3 sets σ⁴ = n (`experimental`).
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
from epsilond.accountants.theorem import Status, Theorem
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
from epsilond.calibrators.envelope import TheoremAtInputs, condition_answers
from epsilond.calibrators.projected_sgd.printed_noise import least_log_factor
from epsilond.calibrators.projected_sgd.problem import (
    AnySchedule,
    ProjectedSgdProblem,
    Reading,
    RunSchedules,
    scale_schedule,
)
from epsilond.calibrators.projected_sgd.risk import corollary_inputs, inverse_curvature
from epsilond.calibrators.search import LOG_10

if TYPE_CHECKING:
    from epsilond.accountants.target import Target
    from epsilond.calibrators.answer import TrueFigures

MOST_SOLVED_STEPS = 2**14
"""Largest number of steps of changing size whose noise is solved for; else a bound is read at the answer's noise."""
MOST_LISTED_STEPS = 100
"""Largest number of steps for which a changing schedule is listed among an evaluation's inputs."""
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


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A printed bound on δ, in one reading.

    Attributes:
        theorem: the theorem or corollary.
        reading: name of the reading.
        question: returns the theorem at the inputs of a plan; None if its schedules are too long to be listed.
        radius_conditions: conditions under which the radius of the ball's image is valid. If one fails, the bound is
            refuted.
        other_conditions: conditions that do not affect the status.
        status: status if all conditions on the radius hold.
    """

    theorem: Theorem
    reading: Reading
    run: Callable[[RunSchedules], ProjectedRun]
    """Function from a plan to the run by which the bound models it."""
    bound: Callable[[RunSchedules], float] | None = None
    """Function from a plan to log δ, if it is not that of the run."""
    question: Callable[[RunSchedules], TheoremAtInputs | None]
    radius_conditions: tuple[ConditionResult, ...]
    other_conditions: tuple[ConditionResult, ...] = ()
    status: Status = Status.PROVED
    fixed_noise: float | None = None
    """Noise that the paper prescribes; None if the noise is solved for."""
    shows_kernel: bool = True
    """True if the answer states the diameter of the ball's image and the contraction coefficient."""

    def log_delta(self, epsilon: float, plan: RunSchedules) -> float:
        """Return log δ that the bound claims for a plan."""
        return self.bound(plan) if self.bound else log_contraction_bound(epsilon, self.run(plan)).upper


@dataclass(frozen=True)
class _Pass:
    """The quantities that the checked conditions of these theorems depend on."""

    run: ProjectedRun
    clients: int
    participants: int
    steps: int

    @classmethod
    def of(cls, problem: ProjectedSgdProblem, plan: RunSchedules) -> _Pass:
        run = run_of(problem, plan)
        return cls(run, problem.clients, plan.participants, run.steps)


def readings(
    problem: ProjectedSgdProblem, plan: RunSchedules, truth: Callable[[RunSchedules], TrueFigures | None]
) -> tuple[PrintedReading, ...]:
    """Return every requested reading that applies.

    Each reading keeps the batch and the steps of the answer, and has its own noise.

    Args:
        problem: the request.
        plan: the run of the answer.
        truth: returns the figures certified of a plan.
    """
    wanted = problem.readings
    truth = functools.cache(truth)
    candidates = itertools.chain(_variants(problem, plan), _corollaries(problem, plan))
    return tuple(
        _answer(problem, plan, printed, truth) for printed in candidates if wanted is None or printed.reading in wanted
    )


def run_of(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedRun:
    """Return the numbers of a plan for replace-one, the relation of the theorems."""
    return ProjectedRun.of(problem.spec(plan), "replace-one")


# The four radii -----------------------------------------------------------------------------------------------------
def _variants(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Printed]:
    convex = ConditionResult(CONVEX_LOSSES.id, CONVEX_LOSSES.statement, Verdict.of(problem.convex))
    smooth = ConditionResult(SMOOTH_LOSSES.id, SMOOTH_LOSSES.statement, Verdict.of(problem.smoothness is not None))
    pass_ = _Pass.of(problem, plan)
    last = problem.release == "last"

    def whole_ball(at: RunSchedules) -> ProjectedRun:
        run = run_of(problem, at)
        return replace(run, whole_ball=True) if last else _closed_form_run(run)

    def statement(at: RunSchedules) -> float:
        run = whole_ball(at)
        real = run.constant and run.stops == 1
        passes = problem.clients / at.participants if real else None
        return log_contraction_bound(problem.epsilon, run, passes=passes).upper

    yield Printed(
        theorem=THEOREM_2 if last else COROLLARY_3,
        reading="statement",
        run=whole_ball,
        bound=statement,
        question=functools.partial(_printed_pass, problem),
        radius_conditions=(convex, smooth, SMALL_STEPS.at(pass_)),
        other_conditions=(WHOLE_STEPS.at(pass_),),
    )
    beta, curvature = problem.smoothness, problem.strong_convexity
    losses: list[tuple[Reading, tuple[ConditionResult, ...], Fields]] = [
        ("lipschitz", (), {"smoothness": None, "strong_convexity": 0.0, "convex": True}),
        ("smooth", (smooth,), {"smoothness": beta, "strong_convexity": 0.0, "convex": False}),
        ("strongly-convex", (convex, smooth), {"smoothness": beta, "strong_convexity": curvature, "convex": True}),
    ]
    for reading, conditions, losses_known in losses if beta is not None else losses[:1]:
        yield Printed(
            theorem=ANY_LOSSES,
            reading=reading,
            run=functools.partial(_run_with_losses, problem, losses_known),
            question=functools.partial(_any_pass, problem, losses_known),
            radius_conditions=conditions,
        )


def _run_with_losses(problem: ProjectedSgdProblem, losses: Fields, at: RunSchedules) -> ProjectedRun:
    """Return the run of a plan with other assumptions on the losses."""
    return replace(run_of(problem, at), **losses)


def _closed_form_run(run: ProjectedRun) -> ProjectedRun:
    """Return the run of (12), which has the least step size and the least noise in every step."""
    return replace(
        run,
        whole_ball=True,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )


# Inputs of the theorems ---------------------------------------------------------------------------------------------
def _schedule_values(schedule: AnySchedule, steps: int) -> tuple[float, ...]:
    """Return the constant value, or a value per step, cut off after `MOST_LISTED_STEPS` + 1 values."""
    if schedule.constant is not None:
        return (schedule.constant,)
    return tuple(map(float, schedule.at(1, min(steps, MOST_LISTED_STEPS + 1))))


def _printed_question(
    theorem: Theorem, problem: ProjectedSgdProblem, at: RunSchedules, **further_inputs: object
) -> TheoremAtInputs | None:
    """Return the theorem at the plan with its schedules listed; None if they are too long."""
    steps = problem.spec(at).steps
    lists: Fields = {
        "step_sizes": _schedule_values(at.step_schedule, steps),
        "noise_stds": _schedule_values(at.noise_schedule, steps),
    }
    if max(map(len, lists.values())) > MOST_LISTED_STEPS:
        return None
    return TheoremAtInputs.of(theorem, problem, "printed", participants=at.participants, **lists, **further_inputs)


def _printed_pass(problem: ProjectedSgdProblem, at: RunSchedules) -> TheoremAtInputs | None:
    """Return Theorem 2 for the last model or Corollary 3 for a random model; None without the smoothness β."""
    if problem.smoothness is None:
        return None
    if problem.release == "last":
        return _printed_question(THEOREM_2, problem, at)
    suffix = problem.suffix_fraction if problem.release == "suffix" else None
    return _printed_question(COROLLARY_3, problem, at, suffix_fraction=suffix)


def _any_pass(problem: ProjectedSgdProblem, losses: Fields, at: RunSchedules) -> TheoremAtInputs | None:
    """Return the theorem for any losses, with the diameters that these losses give every image of the ball."""
    stop = None if problem.release == "last" else problem.spec(at).first_stop
    return _printed_question(ANY_LOSSES, problem, at, first_stop=stop, **losses)


def _closed_pass(problem: ProjectedSgdProblem, at: RunSchedules) -> TheoremAtInputs:
    """Return Corollary 3 at the least step size and noise of the pass, which its closed form (12) uses for all."""
    steps = problem.spec(at).steps
    least: Fields = {
        "step_sizes": (at.step_schedule.least(steps),),
        "noise_stds": (at.noise_schedule.least(steps),),
    }
    return TheoremAtInputs.of(COROLLARY_3, problem, participants=at.participants, suffix_fraction=None, **least)


# The corollaries ----------------------------------------------------------------------------------------------------
def _corollaries(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Printed]:
    if problem.smoothness is None or not problem.convex or not inverse_curvature(problem, plan):
        return
    if plan.noise_schedule.constant is None:
        return
    shared: Fields = {
        "radius_conditions": (SMALL_STEPS.at(_Pass.of(problem, plan)),),
        "shows_kernel": False,
    }
    if problem.release == "random-stop":
        yield Printed(
            theorem=COROLLARY_3,
            reading="experimental",
            run=lambda at: _closed_form_run(run_of(problem, at)),
            question=functools.partial(_closed_pass, problem),
            fixed_noise=problem.clients**0.25,
            **shared,
        )
    if problem.release != "last":
        return
    inputs = functools.partial(corollary_inputs, problem)
    shared |= {
        "theorem": COROLLARY_1,
        "run": lambda at: run_of_bound_11(inputs(at)),
        "question": lambda at: TheoremAtInputs(COROLLARY_1, inputs(at)),
    }
    yield Printed(
        reading="statement", bound=lambda at: misprinted_log_delta(inputs(at)), status=Status.REFUTED, **shared
    )
    yield Printed(reading="proof", **shared)


# One reading --------------------------------------------------------------------------------------------------------
def _answer(
    problem: ProjectedSgdProblem,
    plan: RunSchedules,
    printed: Printed,
    truth: Callable[[RunSchedules], TrueFigures | None],
) -> PrintedReading:
    """Return a reading at the noise that it prescribes, with its claims and the certified figures of that run.

    Args:
        problem: the request.
        plan: the run of the answer.
        printed: the printed bound.
        truth: returns the certified figures of a plan, or None if they are not requested.
    """
    printed_plan = _plan_at_printed_noise(problem, plan, printed)
    noise = printed_plan.least_noise(problem.clients)
    is_valid = all(condition.holds == Verdict.YES for condition in printed.radius_conditions)
    excess_risk = None
    if printed.theorem is COROLLARY_1:
        excess_risk = math.fsum(risk_terms(corollary_inputs(problem, printed_plan), "printed").values())
    kernel = _kernel(printed.run(printed_plan), problem.epsilon) if printed.shows_kernel else {}
    question = printed.question(printed_plan)
    steps = float(problem.spec(printed_plan).steps)
    parameters = {"noise_std": noise, "noise_multiplier": noise / problem.lipschitz, "steps": steps}
    return PrintedReading(
        theorem=printed.theorem.id,
        reading=printed.reading,
        status=printed.status if is_valid else Status.REFUTED,
        parameters=parameters | kernel,
        claims=_claims(problem.target, printed.log_delta(problem.epsilon, printed_plan), excess_risk),
        true=truth(printed_plan),
        conditions=condition_answers(printed.radius_conditions + printed.other_conditions),
        evaluations=() if question is None else (question.served,),
    )


def _kernel(run: ProjectedRun, epsilon: float) -> dict[str, float]:
    """Return the diameter of the image of the ball and the contraction coefficient, each the largest of all steps."""
    steps = 1 if run.constant else run.steps
    widest = float(run.image_diameter(run.step_schedule.at(1, steps)).max())
    _, shifts = run.shifts(1, steps)
    return {"image_diameter": widest, "contraction": math.exp(float(log_theta(epsilon, float(shifts.max()))))}


def _claims(target: Target, log_delta: float, excess_risk: float | None) -> Claims:
    """Return the target as claim if it is met within the accuracy of the search, and the claimed δ otherwise."""
    log_delta = max(log_delta, LEAST_LOG_DELTA)
    delta: float | None
    if abs(log_delta - target.log_delta) <= CLAIM_TOLERANCE * (1.0 + abs(log_delta)):
        delta, log10_delta = target.delta, target.log10_delta
    else:
        delta = math.exp(log_delta) if log_delta > LEAST_DOUBLE_LOG_DELTA else None
        log10_delta = log_delta / LOG_10
    return Claims(epsilon=target.epsilon, delta=delta, log10_delta=log10_delta, excess_risk=excess_risk)


def _plan_at_printed_noise(problem: ProjectedSgdProblem, plan: RunSchedules, printed: Printed) -> RunSchedules:
    """Return the plan with the smallest noise at which a printed bound claims the target.

    The noise schedule is scaled as a whole. The plan is unchanged if no noise within the factor 10⁸ meets the
    target, if its changing steps are too many to search, or if its own noise is the smallest up to `SAME_NOISE`.

    Args:
        problem: the request, with the target.
        plan: the run of the answer.
        printed: the printed bound.
    """

    def plan_at(log_factor: float) -> RunSchedules:
        return replace(plan, noise_schedule=scale_schedule(plan.noise_schedule, math.exp(log_factor)))

    if printed.fixed_noise is not None:
        return plan_at(math.log(printed.fixed_noise / plan.least_noise(problem.clients)))
    run = run_of(problem, plan)
    if not run.constant and run.steps > MOST_SOLVED_STEPS:
        return plan

    @functools.cache
    def excess(log_factor: float) -> float:
        value = printed.log_delta(problem.epsilon, plan_at(log_factor)) - problem.target.log_delta
        return min(max(value, -LARGEST_EXCESS), LARGEST_EXCESS)

    log_factor = least_log_factor(excess)
    if log_factor is None or abs(log_factor) <= SAME_NOISE:
        return plan
    return plan_at(log_factor)
