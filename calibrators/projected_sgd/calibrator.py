"""projected-sgd: one pass of noisy projected gradient descent of which one model is seen (Asoodeh et al. 2021).

A trusted aggregator goes once through n clients in secret batches of m; each client adds N(0, σ²) per coordinate to
its gradient, so that the mean carries σ/√m; the models on the way stay hidden. Contraction of the ball, shifted
interpolation and plain composition each bound what the released model shows; `account` takes the least. This file
states the family; the problem, the searches, the printed bounds and the risk each have their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.schedules import Schedule
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.hidden_states.projected_contraction import ANY_LOSSES, check_step_sizes
from epsilond.accountants.theorems.hidden_states.projected_sgd import COMPOSED
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import INTERPOLATION
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, THEOREM_2
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Caution, ConsideredBound, Served
from epsilond.calibrators.calibration import Calibrator, CostClass, Outcome
from epsilond.calibrators.cautions import MINIMALITY_NOT_PROVED, assumption_cautions, printed_cautions
from epsilond.calibrators.certificates import unknown
from epsilond.calibrators.projected_sgd.accounts import Accounts
from epsilond.calibrators.projected_sgd.batch_search import BatchRanges, Feasible
from epsilond.calibrators.projected_sgd.plan import PLANS
from epsilond.calibrators.projected_sgd.printed import LEAST_DOUBLE_LOG_DELTA, readings, run_of
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules, largest
from epsilond.calibrators.projected_sgd.risk import ProjectedSgdUtility, start_of_run, utility_of
from epsilond.calibrators.projected_sgd.risk_bounds import RISK
from epsilond.calibrators.projected_sgd.search import demand_affordable, solve_unknown
from epsilond.calibrators.search import LEAST, guarantee_of
from epsilond.calibrators.solution import Solution
from epsilond.calibrators.targets.failures import LOG_10

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer, Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.calibrators.answer import PrintedReading
    from epsilond.calibrators.risk.baseline import Start


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdParameters:
    """Parameters of the run."""

    noise_std: Annotated[
        float,
        Served("standard deviation per coordinate of the noise that one client adds, in the step where it is smallest"),
    ]
    noise_multiplier: Annotated[float, Served("noise_std divided by contribution_norm")]
    contribution_norm: Annotated[float, CONTRIBUTION_NORM]
    mean_noise_std: Annotated[
        float,
        Served(
            "standard deviation per coordinate of the noise in the mean of a batch, where it is smallest: "
            "noise_std divided by the root of participants"
        ),
    ]
    participants: Annotated[int, Served("number of clients in a batch")]
    rounds: Annotated[
        int, Served("number of steps of the pass, one for each whole batch. Clients that are left over never take part")
    ]
    step_size: Annotated[float, Served("largest step size; step_schedule has each")]
    step_schedule: Annotated[Schedule, Served("step size in each step of the pass")]
    noise_schedule: Annotated[
        Schedule,
        Served("standard deviation per coordinate of the noise that one client adds, in each step of the pass"),
    ]
    feasible_participants: Annotated[
        tuple[Feasible, ...] | None,
        Served("ranges of all tried batch sizes that meet the target; absent unless participants were solved for"),
    ] = None
    every_batch_size_tried: Annotated[
        bool | None,
        Served(
            "true: every batch size was decided, and no other one meets the target. false: some were not "
            "decided. Absent unless participants were solved for"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdSolution(Solution[ProjectedSgdProblem]):
    """The certified run of a request.

    Attributes:
        plan: the batch size and the schedules, with the solved number in its place.
        batches: the batch sizes that meet the target; None unless the batch size was solved for.
        accounts: a cache of the privacy guarantees of runs that were computed for the request.
    """

    plan: RunSchedules
    batches: BatchRanges | None
    accounts: Accounts

    @property
    def noise_std(self) -> float:
        """Standard deviation σ per coordinate of one client's noise, the least of all steps."""
        return self.plan.least_noise(self.problem.clients)


def considered_bounds(solution: ProjectedSgdSolution) -> Iterator[ConsideredBound]:
    """Yield the bounds on log δ by all theorems for the released model, and one more bound for comparison.

    The last bound is for an observer of all models, in a run that draws its batches anew.

    Args:
        solution: the certified run.
    """
    problem = solution.problem
    considered = solution.accounts.of(solution.plan).considered
    log_deltas = [bound.curve.upper_log_delta(problem.target.epsilon) for bound in considered if bound.curve]
    least = min(log_deltas, default=math.inf)
    for bound in considered:
        if bound.curve is None:
            yield ConsideredBound(
                theorem=bound.theorem, observer=problem.observer, applies=Verdict.NO, reason=bound.reason
            )
        else:
            log_delta = bound.curve.upper_log_delta(problem.target.epsilon)
            yield _applicable_bound(bound.theorem, problem, log_delta, least=log_delta == least)
    yield _bound_for_all_models(solution)


def _applicable_bound(theorem: str, problem: ProjectedSgdProblem, log_delta: float, *, least: bool) -> ConsideredBound:
    """Return a bound that applies, in the form of the answer.

    Args:
        theorem: id of the theorem.
        problem: the request.
        log_delta: upper bound on log δ at the target's ε; it is rounded up in the answer.
        least: whether it is the least of all bounds.
    """
    delta = None
    if log_delta > LEAST_DOUBLE_LOG_DELTA:
        delta = min(math.nextafter(math.exp(log_delta), 1.0), 1.0)
    return ConsideredBound(
        theorem=theorem,
        observer=problem.observer,
        applies=Verdict.YES,
        log10_delta=min(math.nextafter(log_delta / LOG_10, 0.0), 0.0),
        delta=delta,
        least=least,
    )


def _bound_for_all_models(solution: ProjectedSgdSolution) -> ConsideredBound:
    """Bound δ of a different run, for comparison: the observer sees every model, and each batch is drawn anew.

    That run has the answer's noise, and ⌊n/m⌋ steps with batches of m of n clients. In the answer's run, batches are
    disjoint and only one model is seen, so the bound does not apply to it.

    Args:
        solution: the certified run.
    """
    problem = solution.problem
    m, n = solution.plan.participants, problem.clients
    step: Spec = Gaussian(noise_multiplier=math.sqrt(m) * solution.noise_std / problem.lipschitz)
    if m < n:
        step = Subsampled(sampling="without-replacement", batch_size=m, population=n, mechanism=step)
    run = Repeated(times=n // m, mechanism=step)
    observer: Observer = "released-models"
    try:
        guarantee = guarantee_of(problem, run, "coarse", observer=observer)
    except NoCertificate as error:
        return ConsideredBound(theorem=COMPOSED.id, observer=observer, applies=Verdict.NO, reason=error.message)
    log_delta = guarantee.curve.upper_log_delta(problem.target.epsilon)
    return replace(_applicable_bound(guarantee.derivation.theorem, problem, log_delta, least=False), observer=observer)


def cautions(
    solution: ProjectedSgdSolution, utility: ProjectedSgdUtility, printed: tuple[PrintedReading, ...]
) -> Iterator[Caution]:
    """Yield every caution of projected SGD that applies, in a fixed order.

    Args:
        solution: the certified run.
        utility: the risk bound, or the reason why there is none.
        printed: the evaluated interpretations of the paper's bounds.
    """
    problem = solution.problem
    yield from _minimality_cautions(solution)
    for caution in printed_cautions(printed, (solution.noise_std,)):
        # A given noise is not the smallest, so that a smaller printed noise is not a fault.
        if problem.solve_for == "noise_std" or caution.code != "printed-noise-below-certified":
            yield caution
    yield from _run_cautions(problem, solution.plan)
    if utility.reason:
        yield Caution(code="no-risk-for-this-run", message=utility.reason)
    elif utility.risk:
        yield from _assumptions(problem, solution.plan)


def _minimality_cautions(solution: ProjectedSgdSolution) -> Iterator[Caution]:
    """Warn if the solved number is the smallest that is offered, or if a smaller one may also meet the target."""
    problem, certified = solution.problem, solution.certified
    if problem.solve_for == "noise_std" and certified.noise == LEAST:
        yield Caution(code="least-noise", message=f"δ is met at the least noise offered, {LEAST:g} gradient norms")
    elif problem.solve_for == "step_size" and certified.minimal == "searched":
        yield Caution(
            code="any-step-size",
            message="the smallest step size offered meets the target, or minimality of this one is not proved. The "
            "noise by itself hides a record, and contraction adds nothing",
        )
    elif certified.minimal == "searched":
        yield MINIMALITY_NOT_PROVED
    if solution.batches and not solution.batches.exhaustive:
        yield Caution(
            code="participants-not-all-tried",
            message="the fixed budget ended before every batch size was decided; those listed all meet the target",
        )


def _run_cautions(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Caution]:
    """Warn of steps that are too long, of clients in no batch, and of a relation for which the paper states nothing.

    A step is too long if it exceeds 2/β for losses of smoothness β.
    """
    sides = check_step_sizes(run_of(problem, plan))
    if problem.smoothness is not None and problem.convex and sides.holds != Verdict.YES:
        yield Caution(
            code="step-size-beyond-two-over-smoothness",
            message=f"η_t ≤ 2/β at every t fails, {sides.left:g} > {sides.right:g}: a gradient step may then move two "
            f"models of the ball further apart than its diameter; {ANY_LOSSES.id} covers this case",
        )
    left_over = problem.clients % plan.participants
    if left_over:
        yield Caution(
            code="clients-left-over", message=f"{left_over} clients are in no whole batch and never take part"
        )
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed bounds and the true figures given with them are for replace-one, not for this "
            "relation",
        )


def _assumptions(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Caution]:
    """Warn of assumed constants, and of a bound on the risk that has an unknown constant or is unproved for batches."""
    yield from assumption_cautions(problem)
    if problem.release != "random-stop":
        return
    if problem.shamir_constant is None:
        yield Caution(code="hidden-constant", message="no paper gives the constant of Corollary 2: the risk is a rate")
    if plan.participants > 1:
        yield Caution(
            code="risk-unproved-for-batches",
            message="Corollary 2 speaks of single records; its extension to batches is not proved (erratum A-7)",
        )


EXAMPLE = {
    "epsilon": 0.5,
    "delta": 1e-5,
    "clients": 100,
    "participants": 10,
    "dimension": 20,
    "lipschitz": 1.0,
    "radius": 1.0,
    "smoothness": 2.0,
    "step_schedule": {"kind": "constant", "value": 0.5},
    "relation": "replace-one",
    "unit": "record",
    "observer": "final-model",
}


class ProjectedSgdCalibrator(
    Calibrator[ProjectedSgdProblem, ProjectedSgdParameters, ProjectedSgdSolution, ProjectedSgdUtility]
):
    """Projected SGD of which one model is released."""

    name = "projected-sgd"
    title = "Projected SGD of which only the last model is released"
    summary = (
        "One pass of noisy projected gradient descent over secret batches, with hidden states. Computes the noise, "
        "the step size or the batch size for a target (Asoodeh et al. 2021, Theorem 2 and Corollaries 1 to 3)."
    )
    problem = ProjectedSgdProblem
    parameters_type = ProjectedSgdParameters
    theorems = (THEOREM_2.id, COROLLARY_1.id, COROLLARY_2.id, COROLLARY_3.id, ANY_LOSSES.id, INTERPOLATION.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    searches_risks = False
    plan_place = 4

    def cost(self, problem: ProjectedSgdProblem) -> CostClass:
        """Return `search`, because several bounds are compared numerically."""
        del problem
        return "search"

    def definition(self, problem: ProjectedSgdProblem) -> Definition:
        """Return `central`, because a trusted aggregator keeps the intermediate models hidden."""
        del problem
        return "central"

    def find(self, problem: ProjectedSgdProblem) -> ProjectedSgdSolution:
        """Solve for the noise, the step size or the batch size, and certify the run with it.

        The guarantee is against an observer of only the released model.

        Args:
            problem: the request, which names the unknown.

        Raises:
            ConditionViolated: no theorem covers this relation or observer.
            Infeasible: no value of the unknown meets the target.
            BeyondBudget: a search would take too long, because step sizes or noises change over too many steps.
        """
        demand_affordable(problem)
        accounts = Accounts(problem)
        certified, plan, batches = solve_unknown(problem, accounts)
        return ProjectedSgdSolution(
            problem=problem,
            target=problem.target,
            certified=certified,
            norm=problem.lipschitz,
            plan=plan,
            batches=batches,
            accounts=accounts,
        )

    def restate(self, solution: ProjectedSgdSolution) -> ProjectedSgdSolution:
        """Return the solution with an empty cache of accounts, so that bounds are compared at the certified (ε, δ)."""
        return replace(solution, accounts=Accounts(solution.problem))

    def risk(self, solution: ProjectedSgdSolution) -> ProjectedSgdUtility:
        """Return the bound on the excess risk of the released model, or the reason why there is none."""
        return utility_of(solution.problem, solution.plan)

    def printed_readings(
        self, outcome: Outcome[ProjectedSgdSolution, ProjectedSgdUtility], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the printed bounds, each solved for the noise that it prescribes."""
        solution = outcome.solution
        return readings(solution.problem, solution.plan, solution.accounts.truth if true_figures else unknown)

    def start(self, problem: ProjectedSgdProblem) -> Start:
        """Return the bound on the population excess risk of the initial model."""
        return start_of_run(problem)

    def parameters(self, outcome: Outcome[ProjectedSgdSolution, ProjectedSgdUtility]) -> ProjectedSgdParameters:
        """Return the numbers of the run, among them the one that was solved for.

        Args:
            outcome: the certified solution, with its schedules and batch sizes.

        Returns:
            Noise per message and in the mean of a batch, step sizes and rounds. The two fields on batch sizes are None
            unless the batch size was solved for.
        """
        solution = outcome.solution
        plan = solution.plan
        noise = solution.noise_std
        batches = solution.batches
        return ProjectedSgdParameters(
            noise_std=noise,
            noise_multiplier=noise / solution.norm,
            contribution_norm=solution.norm,
            mean_noise_std=noise / math.sqrt(plan.participants),
            participants=plan.participants,
            rounds=solution.problem.clients // plan.participants,
            step_size=largest(plan.step_schedule),
            step_schedule=plan.step_schedule,
            noise_schedule=plan.noise_schedule,
            feasible_participants=batches.ranges if batches else None,
            every_batch_size_tried=batches.exhaustive if batches else None,
        )

    def sampling(self, solution: ProjectedSgdSolution) -> Sampling:
        """Return `full` if one batch holds all clients, and otherwise `without-replacement`."""
        return "full" if solution.plan.participants == solution.problem.clients else "without-replacement"

    def specs(self, solution: ProjectedSgdSolution) -> tuple[Spec, ...]:
        """Return the mechanism of the whole pass, which releases one model."""
        return (solution.problem.spec(solution.plan),)

    def bounds(self, solution: ProjectedSgdSolution) -> tuple[ConsideredBound, ...]:
        """Return the bounds on δ for the released model, and one for an observer of all models."""
        return tuple(considered_bounds(solution))

    def warnings(self, outcome: Outcome[ProjectedSgdSolution, ProjectedSgdUtility]) -> Iterator[Caution]:
        """Yield every caution about the result that applies, in a fixed order."""
        training = outcome.training
        assert training is not None  # `risk` always returns a bound or the reason why there is none
        return cautions(outcome.solution, training, outcome.printed)


CALIBRATOR = ProjectedSgdCalibrator()
