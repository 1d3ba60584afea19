"""The certified noise of a problem and its training, before the parts of the answer are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol

from typing_extensions import TypeVar

from epsilond.accountants.quantities import SettingFields, TargetedProblem
from epsilond.accountants.structure.random_draws import draws_of

if TYPE_CHECKING:
    from epsilond.accountants.structure.random_draws import Draw
    from epsilond.accountants.target import Target
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.answer import FrontierRun, PrintedReading, Risk
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.search import Certified

Problem_co = TypeVar("Problem_co", bound=SettingFields, covariant=True)
Targeted_co = TypeVar("Targeted_co", bound=TargetedProblem, covariant=True)
Run = TypeVar("Run")
"""The choices that, together with the problem, determine a release."""


@dataclass(frozen=True, kw_only=True)
class Solution(Generic[Problem_co]):
    """The certified noise for a request. Calibrators extend the class by fields of their own.

    Attributes:
        problem: the request. If its target was a risk, it has the certified (ε, δ) in place of the risk.
        target: the target (ε, δ).
        certified: the noise multiplier, or another number that was searched for, with its guarantee.
        norm: bound on the norm of one contribution, by which the noise multiplier is multiplied.
        frontier: the runs that were compared, if the request leaves rounds or batch size open; None otherwise.
    """

    problem: Problem_co
    target: Target
    certified: Certified
    norm: float = 1.0
    frontier: tuple[FrontierRun, ...] | None = None

    @property
    def noise_std(self) -> float:
        """Certified standard deviation per coordinate, in the units of the quantity that the noise is added to."""
        return self.certified.noise * self.norm

    @property
    def draws(self) -> tuple[Draw, ...] | None:
        """The random draws of records or clients in the run; None for one draw of the protected unit."""
        return None


@dataclass(frozen=True, kw_only=True)
class RunSolution(Solution[Targeted_co], Generic[Targeted_co, Run]):
    """The certified noise of one run, with the certificates of the runs that it was compared with.

    Attributes:
        run: the choices that, with the request, determine the mechanism, such as rounds and batch size.
        certificates: the certified noise of each compared run.
    """

    run: Run
    certificates: Certificates[Targeted_co, Run]

    @property
    def draws(self) -> tuple[Draw, ...] | None:
        """The random draws of records or clients in the run."""
        return draws_of(self.certificates.spec(self.run), self.problem.unit)


class Training(Protocol):
    """The choice of step sizes for a run, with the bound on its excess risk."""

    @property
    def risk(self) -> Risk | None:
        """The bounds on the excess risk; None if no theorem bounds it."""

    @property
    def declared(self) -> tuple[Condition, ...]:
        """The conditions of the bound that cannot be checked, so that the caller must know that they hold."""


SolutionT = TypeVar("SolutionT", bound=Solution[Any], default=Any)
TrainingT = TypeVar("TrainingT", bound=Training, default=Any)


@dataclass(frozen=True)
class Outcome(Generic[SolutionT, TrainingT]):
    """The results of a calibration, from which its answer is written: noise, step sizes, and the paper's theorems.

    Attributes:
        solution: the certified noise of the request.
        training: the step sizes and the bound on the excess risk; None if no theorem bounds it.
        printed: the theorems of the algorithm's paper, in each interpretation ("reading") of their text.
    """

    solution: SolutionT
    training: TrainingT | None
    printed: tuple[PrintedReading, ...] = ()


def declared_by_all(solution: Solution[SettingFields], training: Training | None) -> tuple[Condition, ...]:
    """Return the conditions of the guarantee and of the bound on the risk that cannot be checked, each once.

    The caller must know that they hold.

    Args:
        solution: the certified noise and its guarantee.
        training: the training with its bound on the risk; None without such a bound.

    Returns:
        The conditions of the guarantee, then those of the bound.
    """
    risk_conditions = training.declared if training else ()
    return tuple(dict.fromkeys((*solution.certified.guarantee.declared, *risk_conditions)))
