"""accelerated-mb-sgd: Algorithm 2 of Lowy and Razaviyayn on the data at hand, records used again and again.

A client releases the same messages as in mb-sgd, so the family σ ↦ Spec and its certificate are those of mb-sgd. The
server takes accelerated steps, in stages. Without smoothness the steps descend the Moreau envelope of the loss.
`AcceleratedCalibrator` is the base class of both accelerated algorithms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import ACCELERATED_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import FEDERATED_ACCELERATED_RISK
from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedParameters, AcceleratedPlan
from epsilond.calibrators.accelerated_mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.calibrators.accelerated_mb_sgd.risk import RISK
from epsilond.calibrators.accelerated_mb_sgd.schedule import choose_run, plan_of
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.calibration import CostClass
from epsilond.calibrators.cautions import absence_cautions
from epsilond.calibrators.mb_sgd.calibrator import MembersCalibrator, cost_of_noise
from epsilond.calibrators.mb_sgd.cautions import cautions_of
from epsilond.calibrators.mb_sgd.members import FAMILY, start_of_run
from epsilond.calibrators.mb_sgd.plan import ACCELERATED_PLANS
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.solution import MembersSolution, group_parameters, members_parameters
from epsilond.calibrators.solution import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.calibrators.answer import Objective, PrintedReading
    from epsilond.calibrators.certificates import Certificates, Truth
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.risk.baseline import Start

Problem = TypeVar("Problem", bound=AcceleratedMbSgdProblem)


class AcceleratedCalibrator(MembersCalibrator[Problem, AcceleratedParameters, AcceleratedPlan], Generic[Problem]):
    """Base class of the calibrators of noisy SGD with accelerated steps, which divide a run into stages.

    A stage is a number of consecutive rounds with the same weight of the proximal term. Subclasses differ in the
    objective of the risk bound, and in how often a record is used.

    Attributes:
        objective: objective of the bound on the excess risk: population or empirical.
        unused: fields of the request that the bounds do not use.
    """

    parameters_type = AcceleratedParameters
    objective: Objective
    unused: tuple[str, ...]

    def start(self, problem: Problem) -> Start:
        """Return the bound on the excess risk of the initial model."""
        return start_of_run(problem, self.objective, gap=problem.initial_gap)

    def parameters(self, outcome: Outcome[MembersSolution[Problem], AcceleratedPlan]) -> AcceleratedParameters:
        """Return the parameters of the run: its noise, and its stages if a bound on the excess risk is proved.

        A stage is a number of consecutive rounds with the same weight of the proximal term.

        Args:
            outcome: the certified noise of the request, and the planned stages. The plan is None if no theorem bounds
                the risk.

        Returns:
            The parameters for the answer. Without a plan, those of the stages are None. Without client groups, `groups`
            is None.
        """
        solution, plan = outcome.solution, outcome.training
        groups = group_parameters(solution) if solution.problem.client_groups else None
        parameters = AcceleratedParameters(**vars(members_parameters(solution)), groups=groups)
        if plan is None:
            return parameters
        return replace(
            parameters,
            stages=plan.stages,
            envelope_smoothness=plan.envelope_smoothness,
            strong_convexity=plan.strong_convexity,
        )

    def warnings(self, outcome: Outcome[MembersSolution[Problem], AcceleratedPlan]) -> Iterator[Caution]:
        """Yield the cautions of mb-sgd, and warn of an absent initial excess risk and of fields without effect."""
        solution = outcome.solution
        problem = solution.problem
        yield from cautions_of(problem, solution.certified_members, solution.noise_stds, outcome.printed)
        yield from absence_cautions(problem, "initial_gap")
        for name in self.unused:
            if getattr(problem, name) is not None:
                yield Caution(code="field-not-used", message=f"{name} has no part in this algorithm's bounds")


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


class AcceleratedMbSgdCalibrator(AcceleratedCalibrator[AcceleratedMbSgdProblem]):
    """Calibrator of accelerated noisy mini-batch SGD, with bounds on the empirical excess risk.

    It has the noise and the privacy guarantee of noisy mini-batch SGD, in which each client adds noise to its own
    messages. Only the steps differ: they are accelerated, in stages of several rounds.
    """

    name = "accelerated-mb-sgd"
    title = "Accelerated noisy mini-batch SGD without a trusted server"
    summary = (
        "Mini-batch SGD with the noise and privacy of mb-sgd and accelerated steps in stages on the data at hand. "
        "Losses that are not smooth are replaced by their Moreau envelope (Lowy and Razaviyayn, Algorithm 2, "
        "Theorems E.1 and 2.4)."
    )
    problem = AcceleratedMbSgdProblem
    theorems = ("lowy.e.1", "lowy.2.4", "lowy.algorithm-2", ACCELERATED_RISK_BOUND.id, FEDERATED_ACCELERATED_RISK.id)
    example = EXAMPLE
    risk_bounds = RISK
    plans = ACCELERATED_PLANS
    plan_place = 5
    family = FAMILY
    objective = "empirical"
    unused = ("gradient_std", "heterogeneity")

    def cost(self, problem: AcceleratedMbSgdProblem) -> CostClass:
        """Return `closed-form` if the run is given and all clients have the same noise, and `search` otherwise."""
        return cost_of_noise(problem) if problem.quick else "search"

    def choose_run(
        self, problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
    ) -> Choice[Run]:
        """Return the batch size and rounds: those of the request, or the best ones if it leaves them open."""
        return choose_run(problem, certificates)

    def printed_stds(self, problem: AcceleratedMbSgdProblem, run: Run) -> tuple[float, ...]:
        """Return the standard deviation σ of each group's noise by Theorem E.1 or 2.4 as printed."""
        return theorem_inputs(problem, run, "complete", run.rounds).noise_stds(run.rounds, "printed")

    def risk(self, solution: MembersSolution[AcceleratedMbSgdProblem]) -> AcceleratedPlan | None:
        """Return the stages at the certified noise, with the bound on the excess risk; None if no theorem bounds it."""
        return plan_of(solution.problem, solution.run, solution.mean_noise_std)

    def readings(
        self, solution: MembersSolution[AcceleratedMbSgdProblem], truth: Truth[Member]
    ) -> tuple[PrintedReading, ...]:
        """Return the interpretations of Theorem E.1 or 2.4, with the guarantee certified at the parameters of each."""
        return printed_readings(solution.problem, solution.run, truth)


CALIBRATOR = AcceleratedMbSgdCalibrator()
