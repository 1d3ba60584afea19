"""projected-sgd: one pass of noisy projected gradient descent of which one model is seen (Asoodeh et al. 2021).

A trusted aggregator goes once through n clients in secret batches of m; each client adds N(0, σ²) per coordinate to
its gradient, so that the mean carries σ/√m; the models on the way stay hidden. Contraction of the ball, shifted
interpolation and plain composition each bound what the released model shows; `account` takes the least. This file
states the family; the problem, the searches, the printed bounds and the risk each have their own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.account import Account, account
from epsilond.accountants.errors import BeyondBudget, NoCertificate
from epsilond.accountants.schedules import Schedule
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.hidden_states.projected_sgd import COMPOSED
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import INTERPOLATION
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1
from epsilond.accountants.theorems.papers.asoodeh.one_pass import ANY_LOSSES, THEOREM_2, steps_small
from epsilond.accountants.theorems.papers.asoodeh.random_stopping import COROLLARY_3
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2
from epsilond.calibrators.answer import Calibration, Caution, ConsideredBound, Served, derivation_of
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer, true_figures
from epsilond.calibrators.mb_sgd.warnings import of_a_reading
from epsilond.calibrators.projected_sgd.printed import readings, run_of
from epsilond.calibrators.projected_sgd.problem import Plan, ProjectedSgdProblem, largest, least_noise
from epsilond.calibrators.projected_sgd.risk import Utility, start_of_run, utility_of
from epsilond.calibrators.projected_sgd.search import Batches, Feasible, feasible_batches, smallest_step
from epsilond.calibrators.risk.baseline import measured
from epsilond.calibrators.search import LEAST, LOG_10, Certified, smallest_noise

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.quantities import Observer
    from epsilond.accountants.rule import Effort
    from epsilond.calibrators.answer import PrintedReading, TrueFigures

MOST_SCHEDULED, MOST_SCHEDULED_NOISES = 10**6, 2 * 10**5
"""Most steps of changing size that are solved for; if the noise changes too, or the stop is random. An account takes
more."""


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdParameters:
    """What to run with."""

    noise_std: Annotated[
        float, Served("σ per coordinate of one client's noise, the least of all steps; their mean carries σ/√m")
    ]
    noise_multiplier: Annotated[float, Served("that σ over the norm bound of one client's gradient")]
    mean_noise_std: Annotated[float, Served("σ/√m, what the mean of a batch carries in that step")]
    participants: Annotated[int, Served("clients in a batch")]
    rounds: Annotated[int, Served("steps of the pass: whole batches, clients left over never take part")]
    step_size: Annotated[float, Served("the largest step size")]
    step_schedule: Annotated[Schedule, Served("step size of each step")]
    noise_schedule: Annotated[Schedule, Served("noise of one client in each step")]
    feasible_participants: Annotated[
        tuple[Feasible, ...] | None, Served("solved for participants: all batch sizes found that meet the target")
    ] = None
    every_batch_size_tried: Annotated[bool | None, Served("whether no other batch size does")] = None


class _Accounts:
    """Accounts of the problem's runs, each computed once."""

    def __init__(self, problem: ProjectedSgdProblem) -> None:
        self.problem = problem
        self.of = functools.cache(self._of)

    def _of(self, plan: Plan, effort: Effort = "default", **changes: Any) -> Account:
        problem = self.problem
        spec = replace(problem.spec(plan), **changes)
        return account(spec, relation=problem.relation, unit=problem.unit, observer=problem.observer, effort=effort)

    def solved(self, *, effort: Effort = "default", **numbers: float) -> Guarantee:
        """The guarantee with these numbers solved; `clients` and `lipschitz` stand in for the request's."""
        changes = {name: numbers.pop(name) for name in ("clients", "lipschitz") if name in numbers}
        return self.of(self.problem.plan(**numbers), effort, **changes).guarantee

    def truth(self, plan: Plan) -> TrueFigures:
        """What is known of a plan under replace-one, which the printed theorems speak of."""
        spec = self.problem.spec(plan)
        return true_figures(
            account(spec, relation="replace-one", observer="final-model").guarantee, self.problem.target
        )


def solve(problem: ProjectedSgdProblem) -> Calibration:
    """The number that is open, certified; every bound considered, the printed ones and the risk beside it.

    Guarantees: `guarantee.delta.upper` ≤ δ at ε, for the released model alone.

    Raises:
        ConditionViolated: no theorem covers this relation or observer.
        Infeasible: no value of the unknown meets the target.
        BeyondBudget: more steps of changing size or noise than can be gone through for a search.
    """
    _demand_affordable(problem)
    accounts = _Accounts(problem)
    certified, plan, batches = _solved(problem, accounts)
    noise = least_noise(plan, problem.clients)
    printed = readings(problem, plan, functools.cache(accounts.truth))
    utility = utility_of(problem, plan)
    full = plan.participants == problem.clients
    answer = Calibration(
        algorithm="projected-sgd",
        parameters=ProjectedSgdParameters(
            noise_std=noise,
            noise_multiplier=noise / problem.lipschitz,
            mean_noise_std=noise / math.sqrt(plan.participants),
            participants=plan.participants,
            rounds=problem.clients // plan.participants,
            step_size=largest(plan.step_schedule),
            step_schedule=plan.step_schedule,
            noise_schedule=plan.noise_schedule,
            feasible_participants=batches.ranges if batches else None,
            every_batch_size_tried=batches.exhaustive if batches else None,
        ),
        guarantee=guarantee_answer(
            certified,
            problem.target,
            definition="central",
            sampling="full" if full else "without-replacement",
            sensitivity=sensitivity_factor(problem.relation) * problem.lipschitz,
        ),
        numerical=numerical_answer(certified.guarantee, problem.target),
        as_printed=printed,
        risk=utility.risk,
        considered=tuple(_considered(problem, plan, accounts.of(plan))),
        derivation=derivation_of(certified.guarantee.derivation),
        declared_conditions=declared_answers(dict.fromkeys((*certified.guarantee.declared, *utility.declared))),
        warnings=tuple(_warnings(problem, plan, certified, printed, utility, batches)),
        engine_version=ENGINE_VERSION,
    )
    return measured(answer, start_of_run(problem))


def _demand_affordable(problem: ProjectedSgdProblem) -> None:
    plan = problem.plan()
    constant = plan.step_schedule.constant is not None and plan.noise_schedule.constant is not None
    steps = problem.clients // plan.participants
    quick = problem.release == "last" and plan.noise_schedule.constant is not None
    most = MOST_SCHEDULED if quick else MOST_SCHEDULED_NOISES
    if problem.solve_for != "participants" and not constant and steps > most:
        raise BeyondBudget(f"{steps} steps of changing size or noise are more than the {most} that are solved for")


def _solved(problem: ProjectedSgdProblem, accounts: _Accounts) -> tuple[Certified, Plan, Batches | None]:
    """The certificate, the plan with the unknown in its place, and the batch sizes if they were searched."""
    if problem.solve_for == "noise_std":

        @functools.cache
        def family(noise_multiplier: float, effort: Effort) -> Guarantee:
            return accounts.solved(effort=effort, noise_std=noise_multiplier * problem.lipschitz)

        certified = smallest_noise(family, problem.target, guess=_likely_noise(problem))
        return certified, problem.plan(noise_std=certified.noise * problem.lipschitz), None
    if problem.solve_for == "step_size":
        certified = smallest_step(problem, accounts.solved)
        return certified, problem.plan(step_size=certified.noise), None
    batches = feasible_batches(problem, accounts.solved)
    certified = batches.certified
    return certified, problem.plan(participants=certified.noise), batches


def _likely_noise(problem: ProjectedSgdProblem) -> float:
    """Of one use of a record in a mean of m, hidden by nothing but its own noise."""
    size = math.sqrt(-2.0 * problem.target.log_delta)
    mu = math.sqrt(size**2 + 2.0 * problem.epsilon) - size
    return max(sensitivity_factor(problem.relation) / (max(mu, 1e-9) * math.sqrt(problem.participants or 1)), LEAST)


# Bounds side by side ------------------------------------------------------------------------------------------------
def _considered(problem: ProjectedSgdProblem, plan: Plan, accounted: Account) -> Iterator[ConsideredBound]:
    """Every bound of the released model, and what the models of all steps show if batches are drawn afresh."""
    uppers = [
        one.curve.bound_log_delta(problem.epsilon).upper if one.curve else math.inf for one in accounted.considered
    ]
    for one, upper in zip(accounted.considered, uppers, strict=True):
        if one.curve is None:
            yield ConsideredBound(theorem=one.theorem, observer=problem.observer, applies=False, reason=one.reason)
        else:
            yield _bound(one.theorem, problem, upper, least=upper == min(uppers))
    yield _all_models_seen(problem, plan)


def _bound(theorem: str, problem: ProjectedSgdProblem, upper: float, *, least: bool) -> ConsideredBound:
    return ConsideredBound(
        theorem=theorem,
        observer=problem.observer,
        applies=True,
        log10_delta=min(math.nextafter(upper / LOG_10, 0.0), 0.0),
        delta=min(math.nextafter(math.exp(upper), 1.0), 1.0) if upper > -708.0 else None,
        least=least,
    )


def _all_models_seen(problem: ProjectedSgdProblem, plan: Plan) -> ConsideredBound:
    """The composition of as many steps on batches drawn afresh: all models are seen, who took part is not.

    Another sampling than the answer's, where a record is used once for certain; it stands beside it, never for it.
    """
    m, n = plan.participants, problem.clients
    multiplier = math.sqrt(m) * least_noise(plan, n) / problem.lipschitz
    release = Gaussian(noise_multiplier=multiplier)
    batch: Any = release
    if m < n:
        batch = Subsampled(sampling="without-replacement", batch_size=m, population=n, mechanism=release)
    spec = Repeated(times=n // m, mechanism=batch)
    seen: Observer = "released-models"
    try:
        guarantee = account(
            spec, relation=problem.relation, unit=problem.unit, observer=seen, effort="coarse"
        ).guarantee
    except NoCertificate as refusal:
        return ConsideredBound(theorem=COMPOSED.id, observer=seen, applies=False, reason=refusal.message)
    upper = guarantee.curve.bound_log_delta(problem.epsilon).upper
    return replace(_bound(guarantee.derivation.theorem, problem, upper, least=False), observer=seen)


# Warnings -----------------------------------------------------------------------------------------------------------
def _warnings(
    problem: ProjectedSgdProblem,
    plan: Plan,
    certified: Certified,
    printed: tuple[PrintedReading, ...],
    utility: Utility,
    batches: Batches | None,
) -> Iterator[Caution]:
    if problem.solve_for == "noise_std" and certified.noise == LEAST:
        yield Caution(code="least-noise", message=f"δ is met at the least noise offered, {LEAST:g} gradient norms")
    elif problem.solve_for == "step_size" and certified.slack is None:
        yield Caution(
            code="any-step-size",
            message="the least step size offered meets the target, or it is not proved that no smaller one does: "
            "the noise alone hides a record, and contraction adds nothing",
        )
    elif certified.slack is None:
        yield Caution(code="minimality-not-proved", message="the answer is certified; that less would fail is not")
    if batches and not batches.exhaustive:
        yield Caution(
            code="participants-not-all-tried",
            message="the fixed budget ended before every batch size was decided; those listed all meet the target",
        )
    noise = (least_noise(plan, problem.clients),)
    # A noise that was given is not the smallest, so that less of it says nothing.
    given = () if problem.solve_for == "noise_std" else ("printed-noise-below-certified",)
    for reading in printed:
        yield from (one for one in of_a_reading(reading, noise) if one.code not in given)
    run = run_of(problem, plan)
    sides = steps_small(run)
    if problem.smoothness is not None and problem.convex and sides.holds is not True:
        yield Caution(
            code="step-size-beyond-two-over-smoothness",
            message=f"η_t ≤ 2/β at every t fails, {sides.left:g} > {sides.right:g}: the image of the ball is wider "
            f"than the ball; {ANY_LOSSES.id} takes it as it is",
        )
    if problem.clients % plan.participants:
        left = problem.clients % plan.participants
        yield Caution(code="clients-left-over", message=f"{left} clients are in no whole batch and never take part")
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed bounds and the true figures beside them are for replace-one, not for this relation",
        )
    if utility.reason:
        yield Caution(code="no-risk-for-this-run", message=utility.reason)
    elif utility.risk:
        yield from _assumptions(problem, plan)


def _assumptions(problem: ProjectedSgdProblem, plan: Plan) -> Iterator[Caution]:
    if problem.release == "last" and problem.gradient_bound is None:
        yield Caution(code="assumed-gradient-bound", message="gradient_bound was taken to be lipschitz")
    if problem.gradient_std is None:
        yield Caution(code="assumed-gradient-std", message="gradient_std was taken to be lipschitz")
    if problem.release != "random-stop":
        return
    if problem.shamir_constant is None:
        yield Caution(code="hidden-constant", message="no paper gives the constant of Corollary 2: the risk is a rate")
    if plan.participants > 1:
        yield Caution(
            code="risk-unproved-for-batches",
            message="Corollary 2 speaks of single records; its extension to batches is not proved (erratum A-7)",
        )


def cost(problem: ProjectedSgdProblem) -> CostClass:
    """Always a search over accounts."""
    del problem
    return "search"


CALIBRATOR = Calibrator(
    name="projected-sgd",
    title="Projected SGD whose last model alone is released",
    summary=(
        "One pass of noisy projected gradient descent over secret batches, with hidden states: the noise, the step "
        "size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3)."
    ),
    problem=ProjectedSgdProblem,
    parameters=ProjectedSgdParameters,
    by_hand=solve,
    cost=cost,
    theorems=(THEOREM_2.id, COROLLARY_1.id, COROLLARY_2.id, COROLLARY_3.id, ANY_LOSSES.id, INTERPOLATION.id),
    example={
        "epsilon": 0.5,
        "delta": 1e-5,
        "clients": 100,
        "participants": 10,
        "dimension": 20,
        "lipschitz": 1.0,
        "radius": 1.0,
        "smoothness": 2.0,
        "step_schedule": {"kind": "constant", "value": 0.5},
    },
)
