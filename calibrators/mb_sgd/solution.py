"""The certified noise of each kind of client of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Generic

from typing_extensions import TypeVar

from epsilond.accountants.structure import draws_of, sensitivity_factor
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.envelope import guarantee_answer
from epsilond.calibrators.mb_sgd.members import Member, root_mean_square
from epsilond.calibrators.mb_sgd.problem import MiniBatchProblem, Run
from epsilond.calibrators.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.calibrators.answer import GuaranteeAnswer
    from epsilond.calibrators.search import Certified

Answered_co = TypeVar("Answered_co", bound=MiniBatchProblem, covariant=True, default=MiniBatchProblem)


@dataclass(frozen=True, kw_only=True)
class MembersSolution(Solution[Answered_co], Generic[Answered_co]):
    """The certified noise of each kind of client; `certified` and `norm` are those of the first."""

    run: Run
    certificates: Certificates[Answered_co, Member]
    members: tuple[Member, ...]
    each: tuple[Certified, ...]
    noise_stds: tuple[float, ...]
    printed_stds: tuple[float, ...] = ()
    """σ of each group by the printed theorem at the answer's rounds; none where a client is the unit."""

    @cached_property
    def answers(self) -> tuple[GuaranteeAnswer, ...]:
        """The guarantee of each kind of client; computed on first use, because a ledger needs only the noise."""
        return guarantees_of(self.certificates, self.members)

    @property
    def norms(self) -> tuple[float, ...]:
        """Bounds on the norm of one contribution of each kind of client."""
        return tuple(map(self.certificates.norm, self.members))

    @property
    def mean_noise_std(self) -> float:
        """σ, root mean square over clients."""
        return root_mean_square(zip(self.noise_stds, self.members, strict=True))


def guarantees_of(
    certificates: Certificates[MiniBatchProblem, Member], members: Sequence[Member]
) -> tuple[GuaranteeAnswer, ...]:
    """Return the guarantee of each member, in its own sensitivity; a curve is read once for members that share it."""
    problem = certificates.problem
    read: dict[int, GuaranteeAnswer] = {}
    answers = []
    for member in members:
        certified = certificates.of(member)
        sensitivity = sensitivity_factor(problem.relation) * certificates.norm(member)
        known = read.get(id(certified))
        if known is None:
            known = read[id(certified)] = guarantee_answer(
                certified,
                member.target,
                definition="local",
                sampling=problem.sampling,
                sensitivity=sensitivity,
                draws=draws_of(certificates.spec(member), problem.unit),
            )
        answers.append(replace(known, sensitivity=sensitivity))
    return tuple(answers)
