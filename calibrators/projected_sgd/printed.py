"""The bounds of Asoodeh et al. as they are printed, at the noise they ask for: valid ones told from refuted ones.

All are Theorem 2 or Corollary 3 with a radius of the image of the ball: 2ρ (`statement`), 2(ρ + ηL) (`lipschitz`),
2 min(ρ(1 + ηβ), ρ + ηL) (`smooth`) and 2 min(ρ max(|1 − ηλ|, |1 − ηβ|), ρ + ηL) (`strongly-convex`). Which of these is
the truth depends on the losses and on every step size. Corollary 1 has a misprinted one (`statement`), and one with
the last step's size for all (`proof`, its bound (11)); Corollary 3 sets σ⁴ = n (`experimental`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scipy.optimize import brentq

from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.schedules import Constant
from epsilond.accountants.theorem import ConditionResult, Status
from epsilond.accountants.theorems.hidden_states.projected_contraction import (
    ANY_LOSSES,
    CONVEX_LOSSES,
    SMOOTH_LOSSES,
    Run,
    log_contraction_bound,
)
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import (
    COROLLARY_1,
    InverseTimeSteps,
    eleven,
    log_misprinted,
    risk_terms,
)
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, SMALL_STEPS, THEOREM_2, WHOLE_STEPS
from epsilond.calibrators.answer import Claims, PrintedReading
from epsilond.calibrators.envelope import condition_answers
from epsilond.calibrators.printed import Asked
from epsilond.calibrators.projected_sgd.asked import any_pass, closed_pass, printed_pass
from epsilond.calibrators.projected_sgd.problem import (
    Plan,
    ProjectedSgdProblem,
    Reading,
    least_noise,
    scaled,
)
from epsilond.calibrators.projected_sgd.risk import corollary_inputs, inverse_curvature
from epsilond.calibrators.search import LOG_10

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Theorem
    from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import InverseTimeSteps
    from epsilond.calibrators.answer import TrueFigures
    from epsilond.calibrators.problem import Target

MOST_SOLVED_STEPS = 2**14
"""A bound over more steps of changing size is read at the answer's own noise, and none is solved for."""
SPAN = 1e8

LogDelta = Callable[[Plan], float]
Truth = Callable[[Plan], "TrueFigures"]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A bound as printed: log δ of a plan, and the conditions that make its radius the right one."""

    theorem: Theorem
    reading: Reading
    log_delta: LogDelta
    radius_conditions: tuple[ConditionResult, ...]
    other_conditions: tuple[ConditionResult, ...] = ()
    asked: Callable[[Plan], Asked | None]
    run: Callable[[Plan], Run] | None = None
    status: Status = Status.PROVED
    fixed_noise: float | None = None


@dataclass(frozen=True)
class _Pass:
    """What the checked conditions of these theorems read."""

    run: Run
    clients: int
    participants: int

    @property
    def steps(self) -> int:
        return self.run.steps


def readings(problem: ProjectedSgdProblem, plan: Plan, truth: Truth) -> tuple[PrintedReading, ...]:
    """Every reading that was asked for and says something here.

    `plan` is the answer's; each reading keeps its batch and steps and asks for its own noise.
    """
    wanted = problem.readings
    return tuple(
        _answer(problem, plan, printed, truth)
        for printed in (*_variants(problem, plan), *_corollaries(problem, plan))
        if wanted is None or printed.reading in wanted
    )


def run_of(problem: ProjectedSgdProblem, plan: Plan) -> Run:
    """The numbers of a plan, for replace-one: what the theorems speak of."""
    return Run.of(problem.spec(plan), "replace-one")


# The four radii -----------------------------------------------------------------------------------------------------
def _variants(problem: ProjectedSgdProblem, plan: Plan) -> Iterator[Printed]:
    pass_ = _Pass(run_of(problem, plan), problem.clients, plan.participants)
    theorem = THEOREM_2 if problem.release == "last" else COROLLARY_3
    convex = ConditionResult(CONVEX_LOSSES.id, CONVEX_LOSSES.statement, problem.convex)
    smooth = ConditionResult(SMOOTH_LOSSES.id, SMOOTH_LOSSES.statement, problem.smoothness is not None)

    def bound(run_at: Callable[[Plan], Run], *, whole: bool = False) -> LogDelta:
        def log_delta(at: Plan) -> float:
            run = run_at(at)
            real = whole and run.constant and run.stops == 1
            passes = problem.clients / at.participants if real else None
            return log_contraction_bound(problem.epsilon, run, passes=passes).upper

        return log_delta

    def whole_ball(at: Plan) -> Run:
        return (_whole_ball if problem.release == "last" else _closed)(run_of(problem, at))

    def lipschitz(at: Plan) -> Run:
        return replace(run_of(problem, at), smoothness=None, strong_convexity=0.0)

    def any_smooth(at: Plan) -> Run:
        return replace(run_of(problem, at), convex=False, strong_convexity=0.0)

    def curved(at: Plan) -> Run:
        return replace(run_of(problem, at), convex=True)

    beta = problem.smoothness

    yield Printed(
        theorem=theorem,
        reading="statement",
        asked=lambda at: printed_pass(problem, at),
        run=whole_ball,
        log_delta=bound(whole_ball, whole=True),
        radius_conditions=(convex, smooth, SMALL_STEPS.at(pass_)),
        other_conditions=(WHOLE_STEPS.at(pass_),),
    )
    yield Printed(
        theorem=ANY_LOSSES,
        reading="lipschitz",
        asked=lambda at: any_pass(problem, at),
        run=lipschitz,
        log_delta=bound(lipschitz),
        radius_conditions=(),
    )
    if problem.smoothness is None:
        return
    yield Printed(
        theorem=ANY_LOSSES,
        reading="smooth",
        asked=lambda at: any_pass(problem, at, smoothness=beta, convex=False),
        run=any_smooth,
        log_delta=bound(any_smooth),
        radius_conditions=(smooth,),
    )
    yield Printed(
        theorem=ANY_LOSSES,
        reading="strongly-convex",
        asked=lambda at: any_pass(problem, at, smoothness=beta, strong_convexity=problem.strong_convexity),
        run=curved,
        log_delta=bound(curved),
        radius_conditions=(convex, smooth),
    )


def _whole_ball(run: Run) -> Run:
    return replace(run, whole_ball=True)


def _closed(run: Run) -> Run:
    """(12): the least step size and noise for all."""
    return replace(
        run,
        whole_ball=True,
        step_schedule=Constant(value=run.step_schedule.least(run.steps)),
        noise_schedule=Constant(value=run.noise_schedule.least(run.steps)),
    )


# The corollaries ----------------------------------------------------------------------------------------------------
def _corollaries(problem: ProjectedSgdProblem, plan: Plan) -> Iterator[Printed]:
    if problem.smoothness is None or not problem.convex or not inverse_curvature(problem, plan):
        return
    if plan.noise_schedule.constant is None:
        return
    pass_ = _Pass(run_of(problem, plan), problem.clients, plan.participants)
    conditions = (SMALL_STEPS.at(pass_),)
    if problem.release == "random-stop":
        yield Printed(
            theorem=COROLLARY_3,
            reading="experimental",
            asked=lambda at: closed_pass(problem, at),
            log_delta=lambda at: log_contraction_bound(problem.epsilon, _closed(run_of(problem, at))).upper,
            radius_conditions=conditions,
            fixed_noise=problem.clients**0.25,
        )
    if problem.release != "last":
        return

    def inputs(at: Plan) -> InverseTimeSteps:
        return corollary_inputs(problem, at, least_noise(at, problem.clients))

    yield Printed(
        theorem=COROLLARY_1,
        reading="statement",
        asked=lambda at: Asked(COROLLARY_1, inputs(at)),
        log_delta=lambda at: log_misprinted(inputs(at)),
        radius_conditions=conditions,
        status=Status.REFUTED,
    )
    yield Printed(
        theorem=COROLLARY_1,
        reading="proof",
        asked=lambda at: Asked(COROLLARY_1, inputs(at)),
        log_delta=lambda at: log_contraction_bound(problem.epsilon, eleven(inputs(at))).upper,
        radius_conditions=conditions,
    )


# One reading --------------------------------------------------------------------------------------------------------
def _answer(problem: ProjectedSgdProblem, plan: Plan, printed: Printed, truth: Truth) -> PrintedReading:
    own = _at_its_noise(problem, plan, printed)
    noise = least_noise(own, problem.clients)
    valid = all(condition.holds is True for condition in printed.radius_conditions)
    excess_risk = None
    if printed.theorem is COROLLARY_1:
        excess_risk = math.fsum(risk_terms(corollary_inputs(problem, own, noise), "printed").values())
    run = run_of(problem, own)
    kernel = _kernel(printed.run(own), problem.epsilon) if printed.run else {}
    asked = printed.asked(own)
    return PrintedReading(
        theorem=printed.theorem.id,
        reading=printed.reading,
        status=printed.status if valid else Status.REFUTED,
        parameters={"noise_std": noise, "noise_multiplier": noise / problem.lipschitz, "steps": float(run.steps)}
        | kernel,
        claims=_claims(problem.target, printed.log_delta(own), excess_risk),
        true=truth(own),
        conditions=condition_answers((*printed.radius_conditions, *printed.other_conditions)),
        evaluations=() if asked is None else (asked.served,),
    )


def _kernel(run: Run, epsilon: float) -> dict[str, float]:
    """The diameter of the image of the ball and the contraction coefficient it gives, each the largest of all steps."""
    steps = 1 if run.constant else run.steps
    widest = float(run.image_diameter(run.step_schedule.at(1, steps)).max())
    _, shifts = run.shifts(1, steps)
    return {"image_diameter": widest, "contraction": math.exp(float(log_theta(epsilon, float(shifts.max()))))}


def _claims(target: Target, log_delta: float, excess_risk: float | None) -> Claims:
    """The target itself where it is met to within the search's accuracy, else the δ that is claimed."""
    log_delta = max(log_delta, -1e300)
    if abs(log_delta - target.log_delta) <= 1e-6 * (1.0 + abs(log_delta)):
        delta, log10_delta = target.delta, target.log10_delta
    else:
        delta, log10_delta = math.exp(log_delta) if log_delta > -708.0 else None, log_delta / LOG_10
    return Claims(epsilon=target.epsilon, delta=delta, log10_delta=log10_delta, excess_risk=excess_risk)


def _at_its_noise(problem: ProjectedSgdProblem, plan: Plan, printed: Printed) -> Plan:
    """The plan with the smallest noise at which the bound claims the target; its own noise where none is found."""
    start = least_noise(plan, problem.clients)

    def at(log_factor: float) -> Plan:
        return replace(plan, noise_schedule=scaled(plan.noise_schedule, math.exp(log_factor)))

    if printed.fixed_noise is not None:
        return at(math.log(printed.fixed_noise / start))
    run = run_of(problem, plan)
    if not run.constant and run.steps > MOST_SOLVED_STEPS:
        return plan

    def excess(log_factor: float) -> float:
        value = printed.log_delta(at(log_factor)) - problem.target.log_delta
        return min(max(value, -1e6), 1e6)

    reach = math.log(SPAN)
    if excess(0.0) == 0.0 or excess(-reach) <= 0.0 or excess(reach) >= 0.0:
        return plan
    root = float(brentq(excess, -reach, reach, xtol=1e-15, rtol=1e-15))
    pads: Iterable[float] = (0.0, *(10.0**-k for k in range(15, 7, -1)))
    root = next((root + pad for pad in pads if excess(root + pad) <= 0.0), root + 1e-7)
    # The same bound as the answer's: its noise is the answer's, to within the searches' accuracy.
    return plan if abs(root) <= 1e-6 else at(root)
