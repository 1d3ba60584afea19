"""accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn on the data at hand, records used again and again.

What a client releases is what it releases in mb-sgd, so the family σ ↦ Spec and its certificate are those of mb-sgd.
What the server does with it is accelerated, in stages; without smoothness it descends the loss's Moreau envelope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated.answer import AcceleratedParameters, AcceleratedPlan, cautions_of, parameters_of
from epsilond.calibrators.accelerated.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.plan import PLANS
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.accelerated_mb_sgd.risk import RISK
from epsilond.calibrators.accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.calibration import CostClass, Outcome
from epsilond.calibrators.certificates import unknown
from epsilond.calibrators.mb_sgd.base import MembersCalibrator
from epsilond.calibrators.mb_sgd.calibrator import cost_of_noise
from epsilond.calibrators.mb_sgd.members import FAMILY, divisor_conditions, start_of_run
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.solution import MembersSolution

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "participants": 50,
    "dimension": 20,
    "lipschitz": 1.0,
    "diameter": 2.0,
    "smoothness": 1.0,
    "strong_convexity": 0.1,
    "batch_size": 200,
    "rounds": 100,
    "relation": "replace-one",
    "unit": "record",
    "observer": "server",
}


class AcceleratedMbSgdCalibrator(MembersCalibrator[AcceleratedMbSgdProblem, AcceleratedParameters, AcceleratedPlan]):
    """Accelerated noisy mini-batch SGD on the data at hand."""

    name = "accelerated-mb-sgd"
    title = "Accelerated noisy mini-batch SGD for clients that trust nobody"
    summary = (
        "The noise and privacy of mb-sgd, with accelerated steps in stages on the data at hand, and the Moreau "
        "envelope for losses that are not smooth (Lowy and Razaviyayn, Algorithm 2, Theorems E.1 and 2.4)."
    )
    problem = AcceleratedMbSgdProblem
    parameters_type = AcceleratedParameters
    theorems = ("lowy.e.1", "lowy.2.4", "lowy.algorithm-2", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = PLANS
    plan_place = 5
    family = FAMILY

    def cost(self, problem: AcceleratedMbSgdProblem) -> CostClass:
        """Return closed-form where the noise is one and the run is given."""
        return cost_of_noise(problem) if problem.quick else "search"

    def choose_run(
        self, problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
    ) -> Choice[Run]:
        """Return the run that the problem gives, or the best one where the problem leaves it open."""
        return choose_run(problem, certificates)

    def printed_stds(self, problem: AcceleratedMbSgdProblem, run: Run) -> tuple[float, ...]:
        """Return σ of each group by Theorem E.1 or 2.4 as printed."""
        return theorem_inputs(problem, run, "complete", run.rounds).noise_stds(run.rounds, "printed")

    def risk(self, solution: MembersSolution[AcceleratedMbSgdProblem]) -> AcceleratedPlan | None:
        """Return the stages at the certified noise, with the bound on the excess risk."""
        return plan_of(solution.problem, solution.run, solution.mean_noise_std)

    def printed(
        self, outcome: Outcome[MembersSolution[AcceleratedMbSgdProblem], AcceleratedPlan], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Return the readings of the printed theorems."""
        solution = outcome.solution
        truth = solution.certificates.truth if true_figures else unknown
        return printed_readings(solution.problem, solution.run, truth)

    def start(self, problem: AcceleratedMbSgdProblem) -> Start:
        """Return the bound on the risk before training."""
        return start_of_run(problem, "empirical", gap=problem.initial_gap)

    def parameters(
        self, outcome: Outcome[MembersSolution[AcceleratedMbSgdProblem], AcceleratedPlan]
    ) -> AcceleratedParameters:
        """Return the run, its noise and its stages."""
        return parameters_of(outcome.solution, outcome.training)

    def premises(
        self, outcome: Outcome[MembersSolution[AcceleratedMbSgdProblem], AcceleratedPlan]
    ) -> tuple[Condition, ...]:
        """Return the premises of the run, of the divisor of its means, and of the risk bound."""
        training = outcome.training
        on_the_risk = training.declared if training else ()
        return (*CONDITIONS, *divisor_conditions(outcome.solution.problem), *on_the_risk)

    def warnings(
        self, outcome: Outcome[MembersSolution[AcceleratedMbSgdProblem], AcceleratedPlan]
    ) -> Iterator[Caution]:
        """Yield every caution that applies, in a fixed order."""
        return cautions_of(outcome.solution, outcome.printed, ("gradient_std", "heterogeneity"))


CALIBRATOR = AcceleratedMbSgdCalibrator()
