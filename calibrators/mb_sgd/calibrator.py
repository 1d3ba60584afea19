"""mb-sgd: noisy distributed mini-batch SGD, Algorithm 1 of Lowy and Razaviyayn.

In each of R rounds, M of N clients send the mean of K per-record gradients plus N(0, σ²) per coordinate; the server
averages and takes a projected step. The guarantee is local: it holds for every record of every client against a server
that sees every message, whichever clients it picks; so clients may differ, each with its own target. The family
σ ↦ Spec stands with the members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.calibration import CostClass, Outcome
from epsilond.calibrators.certificates import unknown
from epsilond.calibrators.mb_sgd.answer import MbSgdParameters
from epsilond.calibrators.mb_sgd.base import MembersCalibrator
from epsilond.calibrators.mb_sgd.cautions import cautions_of
from epsilond.calibrators.mb_sgd.groups import (
    common_noise,
    group_parameters,
)
from epsilond.calibrators.mb_sgd.members import (
    FAMILY,
    divisor_conditions,
    mean_noise_std,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.plan import PLANS
from epsilond.calibrators.mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.risk import RISK
from epsilond.calibrators.mb_sgd.schedule import (
    StepPlan,
    choose_run,
    plan_of,
    prescribed_run,
    with_prescribed,
)
from epsilond.calibrators.mb_sgd.solution import MembersSolution

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.answer import Caution, PrintedReading
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.risk.baseline import Start

CONDITIONS = (INSIDE_DOMAIN, FRESH_NOISE)
EXAMPLE = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "samples_per_client": 1000,
    "clients": 50,
    "participants": 25,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "batch_size": 100,
    "rounds": 100,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class MbSgdCalibrator(MembersCalibrator[MbSgdProblem, MbSgdParameters, StepPlan]):
    """Noisy distributed mini-batch SGD."""

    name = "mb-sgd"
    title = "Noisy mini-batch SGD for clients that trust nobody"
    summary = (
        "Each client adds Gaussian noise to its own mini-batch gradients, so that everything it sends is private for "
        "each of its records (Lowy and Razaviyayn, Algorithm 1, Theorems 2.1 and 2.2)."
    )
    problem = MbSgdProblem
    parameters_type = MbSgdParameters
    theorems = ("lowy.2.1", "lowy.2.2", "lowy.appendix-h", EXCESS_RISK_BOUND.id, FEDERATED_RISK.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 6
    family = FAMILY

    def cost(self, problem: MbSgdProblem) -> CostClass:
        """Return closed-form where the noise is one and the run is given."""
        return cost_of_noise(problem)

    def choose_run(self, problem: MbSgdProblem, certificates: Certificates[MbSgdProblem, Member]) -> Choice[Run]:
        """Return the run that the problem gives, or the best one where the problem leaves it open."""
        return choose_run(problem, certificates)

    def printed_stds(self, problem: MbSgdProblem, run: Run) -> tuple[float, ...]:
        """Return σ of each group by Theorem 2.1 or 2.2 as printed."""
        return theorem_inputs(problem, run, run.rounds).noise_stds(run.rounds, "printed")

    def risk(self, solution: MembersSolution[MbSgdProblem]) -> StepPlan | None:
        """Return the steps and the risk bound at the certified noise, with the bound at the printed prescription."""
        problem, run = solution.problem, solution.run
        plan = plan_of(problem, run, solution.mean_noise_std)
        prescribed = prescribed_run(problem, run) if plan else None
        if plan is None or prescribed is None:
            return plan
        return with_prescribed(plan, problem, prescribed, mean_noise_std(solution.certificates, prescribed))

    def printed(
        self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the readings of the printed theorems."""
        solution = outcome.solution
        truth = solution.certificates.truth if true_figures else unknown
        return printed_readings(solution.problem, solution.run, solution.members, truth)

    def start(self, problem: MbSgdProblem) -> Start:
        """Return the bound on the risk before training."""
        return start_of_run(problem, "population")

    def parameters(self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan]) -> MbSgdParameters:
        """Return the run, its noise and its steps."""
        solution, training = outcome.solution, outcome.training
        noise = common_noise(solution)
        return MbSgdParameters(
            noise_std=noise.noise_std,
            noise_multiplier=noise.noise_multiplier,
            contribution_norm=noise.contribution_norm,
            batch_size=solution.run.batch_size,
            rounds=solution.run.rounds,
            step_size=training.step_size if training else None,
            averaging=training.averaging if training else None,
            envelope_smoothness=training.envelope_smoothness if training else None,
            groups=group_parameters(solution) if solution.problem.client_groups else None,
        )

    def premises(self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan]) -> tuple[Condition, ...]:
        """Return the premises of the run, of the divisor of its means, and of the risk bound."""
        training = outcome.training
        on_the_risk = training.declared if training else ()
        return (*CONDITIONS, *divisor_conditions(outcome.solution.problem), *on_the_risk)

    def warnings(self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan]) -> tuple[Caution, ...]:
        """Return every caution that applies, in a fixed order."""
        solution = outcome.solution
        return cautions_of(solution.problem, solution.each, solution.noise_stds, outcome.printed)


def cost_of_noise(problem: MiniBatchProblem) -> CostClass:
    """Return closed-form for full batches and for clients as units: one group at a given pace is exactly Gaussian."""
    amplified = problem.unit == "record" and problem.sampling != "full"
    several = problem.client_groups is not None and len(problem.client_groups) > 1
    paced = problem.rounds is not None and (problem.batch_size is not None or problem.sampling == "full")
    return "closed-form" if paced and not amplified and not several else "search"


CALIBRATOR = MbSgdCalibrator()
