"""The base class of calibrators whose clients may differ."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from epsilond.calibrators.answer import Parameters
from epsilond.calibrators.calibration import Calibrator, Outcome, TrainingT
from epsilond.calibrators.certificates import Certificates, Family
from epsilond.calibrators.mb_sgd.groups import guarantee_of_all, numerical_of_all
from epsilond.calibrators.mb_sgd.members import Member, communication, members_of
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, Run
from epsilond.calibrators.mb_sgd.solution import MembersSolution

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Step
    from epsilond.calibrators.answer import Communication, GuaranteeAnswer, NumericalAnswer
    from epsilond.calibrators.frontier import Choice

Problem = TypeVar("Problem", bound=MiniBatchProblem)


class MembersCalibrator(
    Calibrator[Problem, Parameters, MembersSolution[Problem], TrainingT], Generic[Problem, Parameters, TrainingT]
):
    """An algorithm of clients that may differ. Each kind of client has a certified noise of its own.

    With client groups the guarantee of the answer is the weakest that covers all clients. Figures in which groups
    differ are given for each group separately.
    """

    family: Family[Problem, Member]
    """The family of one kind of client."""

    @abstractmethod
    def choose_run(self, problem: Problem, certificates: Certificates[Problem, Member]) -> Choice[Run]:
        """Return the run that the problem gives, or the best one where the problem leaves it open."""

    @abstractmethod
    def printed_stds(self, problem: Problem, run: Run) -> tuple[float, ...]:
        """Return σ of each group by the printed theorem."""

    def find(self, problem: Problem) -> MembersSolution[Problem]:
        """Return the smallest certified noise of every kind of client.

        Raises:
            InvalidInput: the budgets leave no run.
            ConditionViolated: no theorem covers this sampling under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        certificates = Certificates(self.family, problem)
        choice = self.choose_run(problem, certificates)
        members = members_of(problem, choice.run)
        each = tuple(map(certificates.of, members))
        of_records = problem.client_groups and problem.unit == "record"
        return MembersSolution(
            problem=problem,
            target=problem.target,
            certified=each[0],
            norm=certificates.norm(members[0]),
            frontier=choice.frontier,
            run=choice.run,
            certificates=certificates,
            members=members,
            each=each,
            noise_stds=tuple(map(certificates.noise_std, members)),
            printed_stds=self.printed_stds(problem, choice.run) if of_records else (),
        )

    def sampling(self, solution: MembersSolution[Problem]) -> Sampling:
        """Return how batches are drawn."""
        return solution.problem.sampling

    def specs(self, solution: MembersSolution[Problem]) -> tuple[Spec, ...]:
        """Return what each kind of client releases, once for kinds that release the same."""
        pairs = zip(solution.members, solution.each, strict=True)
        specs = (self.family.spec(solution.problem, member, certified.noise) for member, certified in pairs)
        return tuple(dict.fromkeys(specs))

    def guarantee(self, solution: MembersSolution[Problem]) -> GuaranteeAnswer:
        """Return the guarantee that holds for every client."""
        return guarantee_of_all(solution.answers)

    def numerical(self, solution: MembersSolution[Problem]) -> NumericalAnswer:
        """Return the accuracy of the least exact bound."""
        return numerical_of_all(solution.members, solution.each)

    def communication(self, outcome: Outcome[MembersSolution[Problem], TrainingT]) -> Communication:
        """Return the traffic of the run."""
        solution = outcome.solution
        return communication(solution.problem, solution.run)

    def derivation(self, outcome: Outcome[MembersSolution[Problem], TrainingT]) -> tuple[Step, ...]:
        """Return the derivations of every kind of client, each once."""
        return tuple(dict.fromkeys(certified.guarantee.derivation for certified in outcome.solution.each))
