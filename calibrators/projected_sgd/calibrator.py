"""projected-sgd: one pass of noisy projected gradient descent of which one model is seen (Asoodeh et al. 2021).

A trusted aggregator goes once through n clients in secret batches of m; each client adds N(0, σ²) per coordinate to
its gradient, so that the mean carries σ/√m; the models on the way stay hidden. Contraction of the ball, shifted
interpolation and plain composition each bound the information in the released model; `account` takes the least. This
file states the family; the problem, the searches, the printed bounds and the risk each have their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.schedules import Schedule
from epsilond.accountants.theorems.hidden_states.projected_contraction import ANY_LOSSES
from epsilond.accountants.theorems.hidden_states.shifted_interpolation import INTERPOLATION
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import COROLLARY_1
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, THEOREM_2
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2
from epsilond.calibrators.answer import CONTRIBUTION_NORM, Served
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.certificates import unknown
from epsilond.calibrators.projected_sgd.accounts import Accounts
from epsilond.calibrators.projected_sgd.batch_search import Feasible
from epsilond.calibrators.projected_sgd.cautions import cautions
from epsilond.calibrators.projected_sgd.considered import considered_bounds
from epsilond.calibrators.projected_sgd.plan import PLANS
from epsilond.calibrators.projected_sgd.printed import readings
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, largest
from epsilond.calibrators.projected_sgd.risk import ProjectedSgdUtility, start_of_run, utility_of
from epsilond.calibrators.projected_sgd.risk_bounds import RISK
from epsilond.calibrators.projected_sgd.search import reject_long_searches, solve_unknown
from epsilond.calibrators.projected_sgd.solution import ProjectedSgdSolution
from epsilond.calibrators.solution import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition
    from epsilond.calibrators.answer import Caution, ConsideredBound, PrintedReading
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

        Args:
            problem: the request, which names the unknown number in `solve_for`.

        Returns:
            The certified run with this number.

        Raises:
            ConditionViolated: no theorem covers this relation or observer.
            Infeasible: no value of the unknown meets the target.
            BeyondBudget: a search would take too long, because step sizes or noises change over too many steps.
        """
        reject_long_searches(problem)
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
        """Return the bounds as the paper prints them, each solved for the noise that it prescribes.

        Args:
            outcome: the certified run.
            true_figures: whether to certify the guarantee at each printed noise, which takes more time.

        Returns:
            One interpretation ("reading") for each printed bound, with its conditions, its claims and the certified
            figures.
        """
        solution = outcome.solution
        truth = solution.accounts.truth if true_figures else unknown
        return readings(solution.problem, solution.plan, truth)

    def start(self, problem: ProjectedSgdProblem) -> Start:
        """Return the bound on the population excess risk of the initial model."""
        return start_of_run(problem)

    def parameters(self, outcome: Outcome[ProjectedSgdSolution, ProjectedSgdUtility]) -> ProjectedSgdParameters:
        """Return the numbers of the run, among them the one that was solved for.

        Args:
            outcome: the certified solution, with its schedules and batch sizes.

        Returns:
            Noise per message and in the mean of a batch, step sizes, batch size and rounds. The two fields on other
            batch sizes are None unless the batch size was solved for.
        """
        solution = outcome.solution
        plan = solution.plan
        noise = solution.noise_std
        batches = solution.batches
        return ProjectedSgdParameters(
            noise_std=noise,
            noise_multiplier=noise / solution.norm,
            contribution_norm=solution.norm,
            # the mean of m messages has a standard deviation smaller by √m
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
