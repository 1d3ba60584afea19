"""What is found for a run of clients that may differ: the certified noise of each kind of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from epsilond.calibrators.calibration import Solution
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.mb_sgd.groups import guarantees_of
from epsilond.calibrators.mb_sgd.members import members_of, root_mean_square

if TYPE_CHECKING:
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.theorem import Step
    from epsilond.calibrators.answer import GuaranteeAnswer
    from epsilond.calibrators.certificates import Family
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.mb_sgd.members import Member
    from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem
    from epsilond.calibrators.search import Certified


@dataclass(frozen=True, kw_only=True)
class MembersSolution(Solution):
    """With what was certified for each kind of client; `certified` is that of the first, `norm` the first's."""

    members: tuple[Member, ...]
    each: tuple[Certified, ...]
    noise_stds: tuple[float, ...]
    printed_stds: tuple[float, ...] = ()
    """σ of each group by the printed theorem at the answer's rounds; none where a client is the unit."""

    @cached_property
    def answers(self) -> tuple[GuaranteeAnswer, ...]:
        """The guarantee of each kind of client, worked out when it is asked for: a ledger asks for the noise alone."""
        assert self.certificates is not None
        return guarantees_of(self.certificates, self.members)

    @property
    def mean_noise_std(self) -> float:
        """σ, root mean square over clients."""
        return root_mean_square(zip(self.noise_stds, self.members, strict=True))

    @property
    def derivation(self) -> tuple[Step, ...]:
        """Of every kind of client, each once."""
        return tuple(dict.fromkeys(one.guarantee.derivation for one in self.each))


def find_each(
    problem: MiniBatchProblem,
    family: Family,
    choose: Callable[[Any, Certificates], Choice],
    printed_stds: Callable[[Any, Any], tuple[float, ...]],
) -> MembersSolution:
    """The smallest certified noise of every client; `family` is that of one member, `printed_stds` (problem, run) ↦ σ.

    With client groups the guarantee at the top is the weakest that covers all clients, and figures in which groups
    differ stand with each group alone.

    Raises:
        InvalidInput: the budgets leave no run.
        ConditionViolated: no theorem covers this sampling under this relation.
        Infeasible: no noise that is offered meets the target.
    """
    certificates = Certificates(family, problem)
    choice = choose(problem, certificates)
    members = members_of(problem, choice.run)
    each = tuple(map(certificates.of, members))
    return MembersSolution(
        problem=problem,
        target=problem.target,
        certified=each[0],
        norm=certificates.norm(members[0]),
        run=choice.run,
        choice=choice,
        certificates=certificates,
        members=members,
        each=each,
        noise_stds=tuple(map(certificates.noise_std, members)),
        printed_stds=printed_stds(problem, choice.run) if problem.client_groups and problem.unit == "record" else (),
    )


def released_by(family: Family) -> Callable[[MembersSolution], tuple[Spec, ...]]:
    """Of a solution, what each kind of client releases, once for those that release alike."""

    def released(solution: MembersSolution) -> tuple[Spec, ...]:
        pairs = zip(solution.members, solution.each, strict=True)
        return tuple(dict.fromkeys(family.spec(solution.problem, member, one.noise) for member, one in pairs))

    return released
