"""mb-sgd: noisy distributed mini-batch SGD, Algorithm 1 of Lowy and Razaviyayn.

In each of R rounds, M of N clients send the mean of K per-record gradients plus N(0, σ²) per coordinate; the server
averages and takes a projected step. The guarantee is local: it holds for every record of every client against a server
that sees every message, for every choice of participants. Clients may therefore differ, each with its own target. The
family σ ↦ Spec is in `members`. `MembersCalibrator` is the base class of all algorithms with clients that may differ.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK
from epsilond.calibrators.answer import Parameters
from epsilond.calibrators.calibration import Calibrator, CostClass
from epsilond.calibrators.certificates import Certificates, Family, unknown
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.cautions import cautions_of
from epsilond.calibrators.mb_sgd.certified_targets import members_at_certified_epsilon, problem_at_certified_epsilon
from epsilond.calibrators.mb_sgd.members import (
    FAMILY,
    Member,
    communication,
    divisor_conditions,
    mean_noise_std,
    members_of,
    start_of_run,
)
from epsilond.calibrators.mb_sgd.plan import PLANS
from epsilond.calibrators.mb_sgd.printed import printed_readings, theorem_inputs
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.risk import RISK
from epsilond.calibrators.mb_sgd.schedule import StepPlan, add_prescribed_risk, choose_run, plan_of, prescribed_run
from epsilond.calibrators.mb_sgd.solution import (
    MbSgdParameters,
    MembersSolution,
    group_parameters,
    guarantee_of_all,
    members_parameters,
    numerical_of_all,
)
from epsilond.calibrators.solution import Outcome, TrainingT

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Condition, Step
    from epsilond.calibrators.answer import Caution, Communication, GuaranteeAnswer, NumericalAnswer, PrintedReading
    from epsilond.calibrators.certificates import Truth
    from epsilond.calibrators.risk.baseline import Start

Problem = TypeVar("Problem", bound=MiniBatchProblem)


class MembersCalibrator(
    Calibrator[Problem, Parameters, MembersSolution[Problem], TrainingT], Generic[Problem, Parameters, TrainingT]
):
    """Base class of algorithms with clients that may differ. Each kind of client has a certified noise of its own.

    With client groups the guarantee of the answer is the weakest that covers all clients. Figures in which groups
    differ are given for each group separately.

    Attributes:
        family: the mechanisms of one kind of client as functions of the noise.
    """

    family: Family[Problem, Member]

    @abstractmethod
    def choose_run(self, problem: Problem, certificates: Certificates[Problem, Member]) -> Choice[Run]:
        """Return the batch size and rounds: those of the request, or the best ones if it leaves them open."""

    @abstractmethod
    def printed_stds(self, problem: Problem, run: Run) -> tuple[float, ...]:
        """Return the standard deviation σ of each group's noise by the printed theorem."""

    def find(self, problem: Problem) -> MembersSolution[Problem]:
        """Find the smallest certified noise of each kind of client; kinds may differ in data, batches and targets.

        The batch size and the rounds are those of the request, or are chosen here.

        Args:
            problem: the request, with the clients, their data and losses, and the privacy target.

        Returns:
            The run with the certified noise of each kind of client, and the printed noise if the paper states one.

        Raises:
            InvalidInput: the budgets leave no run.
            ConditionViolated: no theorem covers this sampling under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        certificates = Certificates(self.family, problem)
        run = problem.given_run
        choice = Choice(run) if run else self.choose_run(problem, certificates)
        members = members_of(problem, choice.run)
        certified = tuple(map(certificates.of, members))

        # A target that bounds an attacker's risk becomes the (ε, δ) that is certified for it.
        members = members_at_certified_epsilon(members, certified)
        problem = problem_at_certified_epsilon(problem, members)
        certificates = certificates.restate(problem, dict(zip(members, certified, strict=True)))
        strictest = min((member.target for member in members), key=lambda target: target.epsilon)

        # The paper states the noise of client groups only for the protection of records, and its formulas divide by ε.
        has_record_groups = problem.client_groups and problem.unit == "record"
        is_printed = has_record_groups and all(member.target.epsilon > 0.0 for member in members)
        return MembersSolution(
            problem=problem,
            target=strictest,
            certified=certified[0],
            norm=certificates.norm(members[0]),
            frontier=choice.frontier,
            run=choice.run,
            certificates=certificates,
            members=members,
            certified_members=certified,
            noise_stds=tuple(map(certificates.noise_std, members)),
            printed_stds=self.printed_stds(problem, choice.run) if is_printed else (),
        )

    def sampling(self, solution: MembersSolution[Problem]) -> Sampling:
        """Return how a client draws the batch of a round."""
        return solution.problem.sampling

    def specs(self, solution: MembersSolution[Problem]) -> tuple[Spec, ...]:
        """Return the mechanism of each kind of client at its certified noise; equal mechanisms are listed once.

        Args:
            solution: the certified noise of each kind of client.
        """
        pairs = zip(solution.members, solution.certified_members, strict=True)
        specs = (self.family.spec(solution.problem, member, certified.noise) for member, certified in pairs)
        return tuple(dict.fromkeys(specs))

    def guarantee(self, solution: MembersSolution[Problem]) -> GuaranteeAnswer:
        """Return the weakest guarantee of all kinds of clients, which holds for every client."""
        return guarantee_of_all(solution.answers)

    def numerical(self, solution: MembersSolution[Problem]) -> NumericalAnswer:
        """Return the numerical accuracy of the least exact bound of any kind of client."""
        return numerical_of_all(solution.members, solution.certified_members)

    def communication(self, outcome: Outcome[MembersSolution[Problem], TrainingT]) -> Communication:
        """Return the contents and the size of the messages of the run."""
        solution = outcome.solution
        return communication(solution.problem, solution.run)

    def derivation(self, outcome: Outcome[MembersSolution[Problem], TrainingT]) -> tuple[Step, ...]:
        """Return the derivations of every kind of client, each once."""
        return tuple(dict.fromkeys(certified.guarantee.derivation for certified in outcome.solution.certified_members))

    def conditions(self, problem: Problem) -> tuple[Condition, ...]:
        """Return the conditions that the run must meet: domain, fresh noise, and the divisor of each mean."""
        return (INSIDE_DOMAIN, FRESH_NOISE, *divisor_conditions(problem))

    def premises(self, outcome: Outcome[MembersSolution[Problem], TrainingT]) -> tuple[Condition, ...]:
        """Return the conditions on the run, and the conditions of the risk bound if there is one."""
        conditions = self.conditions(outcome.solution.problem)
        training = outcome.training
        return conditions if training is None else conditions + training.declared

    def printed_readings(
        self, outcome: Outcome[MembersSolution[Problem], TrainingT], *, true_figures: bool
    ) -> tuple[PrintedReading, ...]:
        """Evaluate the theorems of the algorithm's paper for the run, in each interpretation of their text.

        Args:
            outcome: the certified noise of the request, and the planned steps.
            true_figures: whether to certify the ε and δ of a run with the parameters that the paper prescribes. This
                takes more time.

        Returns:
            The interpretations ("readings"), each with its parameters, its claimed (ε, δ) and its conditions.
        """
        solution = outcome.solution
        truth = solution.certificates.truth if true_figures else unknown
        return self.readings(solution, truth)

    @abstractmethod
    def readings(self, solution: MembersSolution[Problem], truth: Truth[Member]) -> tuple[PrintedReading, ...]:
        """Return the interpretations ("readings") of the theorems as the papers print them.

        Args:
            solution: the certified noise.
            truth: function that certifies a client's ε and δ at a printed noise multiplier.
        """


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
    """Calibrator of noisy distributed mini-batch SGD, with bounds on the population excess risk.

    Each client adds Gaussian noise to its own messages, so that it need not trust the server. The calibrator finds the
    least noise that is certified to meet a target (ε, δ), and step sizes with a proved bound.
    """

    name = "mb-sgd"
    title = "Noisy mini-batch SGD without a trusted server"
    summary = (
        "Each client adds Gaussian noise to its own mini-batch gradients. All its messages together are then private "
        "for each of its records (Lowy and Razaviyayn, Algorithm 1, Theorems 2.1 and 2.2)."
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
        """Return `closed-form` if the run is given and its noise needs no search, and `search` otherwise."""
        return cost_of_noise(problem)

    def choose_run(self, problem: MbSgdProblem, certificates: Certificates[MbSgdProblem, Member]) -> Choice[Run]:
        """Return the batch size and rounds: those of the request, or the best ones if it leaves them open."""
        return choose_run(problem, certificates)

    def printed_stds(self, problem: MbSgdProblem, run: Run) -> tuple[float, ...]:
        """Return the standard deviation σ of each group's noise by Theorem 2.1 or 2.2 as printed."""
        return theorem_inputs(problem, run, run.rounds).noise_stds(run.rounds, "printed")

    def risk(self, solution: MembersSolution[MbSgdProblem]) -> StepPlan | None:
        """Return the step sizes of the run and an upper bound on its excess risk at the certified noise.

        If the request leaves the rounds open, the plan also has the bound for the rounds that the corrected theorem
        prescribes, at the noise that is certified for them.

        Args:
            solution: the certified noise of each kind of client, with the run and the request.

        Returns:
            The step sizes with the bound; None if no theorem bounds the risk.
        """
        problem, run = solution.problem, solution.run
        plan = plan_of(problem, run, solution.mean_noise_std)
        if plan is None:
            return None
        prescribed = prescribed_run(problem, run)
        if prescribed is None:
            return plan
        return add_prescribed_risk(plan, problem, prescribed, mean_noise_std(solution.certificates, prescribed))

    def readings(self, solution: MembersSolution[MbSgdProblem], truth: Truth[Member]) -> tuple[PrintedReading, ...]:
        """Return the interpretations of Theorem 2.1 or 2.2, with the guarantee certified at the parameters of each."""
        return printed_readings(solution.problem, solution.run, solution.members, truth)

    def start(self, problem: MbSgdProblem) -> Start:
        """Return the bound on the population excess risk of the initial model."""
        return start_of_run(problem, "population")

    def parameters(self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan]) -> MbSgdParameters:
        """Return the parameters of the run: its noise, and its step sizes if a bound on the excess risk is proved.

        Args:
            outcome: the certified noise of the request, and the step plan. The plan is None if no theorem bounds the
                risk.

        Returns:
            The parameters for the answer. Without a plan, those of the steps are None. Without client groups, `groups`
            is None.
        """
        solution, plan = outcome.solution, outcome.training
        groups = group_parameters(solution) if solution.problem.client_groups else None
        parameters = MbSgdParameters(**vars(members_parameters(solution)), groups=groups)
        if plan is None:
            return parameters
        return replace(
            parameters,
            step_size=plan.step_size,
            averaging=plan.averaging,
            envelope_smoothness=plan.envelope_smoothness,
        )

    def warnings(self, outcome: Outcome[MembersSolution[MbSgdProblem], StepPlan]) -> tuple[Caution, ...]:
        """Return every caution that applies, in a fixed order."""
        solution = outcome.solution
        return cautions_of(solution.problem, solution.certified_members, solution.noise_stds, outcome.printed)


def cost_of_noise(problem: MiniBatchProblem) -> CostClass:
    """Return whether the noise follows from a closed formula or needs a search.

    The formula needs a given batch size and number of rounds, at most one group of clients, and a release that is
    exactly Gaussian. It is Gaussian if batches are full or if whole clients are protected.

    Args:
        problem: the request, with the protected unit, the sampling, the batch size and the rounds.

    Returns:
        The class of the cost: `closed-form` or `search`.
    """
    is_gaussian = problem.unit == "client" or problem.sampling == "full"
    has_several_groups = problem.client_groups is not None and len(problem.client_groups) > 1
    is_batch_given = problem.batch_size is not None or problem.sampling == "full"
    is_run_given = problem.rounds is not None and is_batch_given
    if is_run_given and is_gaussian and not has_several_groups:
        return "closed-form"
    return "search"


CALIBRATOR = MbSgdCalibrator()
