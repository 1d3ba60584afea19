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
    """The certified noise of a problem. Calibrators extend the class by fields of their own.

    Attributes:
        problem: the request. If its target was a risk, it has the certified (ε, δ) in place of the risk.
        target: the target (ε, δ).
        certified: the noise multiplier, or another solved number, with its guarantee.
        norm: bound on the norm of one contribution, by which the noise multiplier is multiplied.
        frontier: the runs that were compared, where the problem leaves the run open; None otherwise.
    """

    problem: Problem_co
    target: Target
    certified: Certified
    norm: float = 1.0
    frontier: tuple[FrontierRun, ...] | None = None

    @property
    def noise_std(self) -> float:
        """Certified standard deviation σ per coordinate, in the units of the quantity that the noise is added to."""
        return self.certified.noise * self.norm

    @property
    def draws(self) -> tuple[Draw, ...] | None:
        """The random draws of the run; None for one draw of the protected unit."""
        return None


@dataclass(frozen=True, kw_only=True)
class RunSolution(Solution[Targeted_co], Generic[Targeted_co, Run]):
    """The certified noise of one run, with the certificates of the runs it was compared with.

    Attributes:
        run: the choices that, with the problem, determine the mechanism, such as rounds and batch size.
        certificates: the certified noise of each run of the problem.
    """

    run: Run
    certificates: Certificates[Targeted_co, Run]

    @property
    def draws(self) -> tuple[Draw, ...] | None:
        """The random draws of the run."""
        return draws_of(self.certificates.spec(self.run), self.problem.unit)


class Training(Protocol):
    """Protocol of the result of choosing step sizes for a run: the bound on its excess risk, and its conditions."""

    @property
    def risk(self) -> Risk | None:
        """The bounds on the excess risk; None where no theorem bounds it."""

    @property
    def declared(self) -> tuple[Condition, ...]:
        """The conditions of the bound that only the caller can vouch for."""


SolutionT = TypeVar("SolutionT", bound=Solution[Any], default=Any)
TrainingT = TypeVar("TrainingT", bound=Training, default=Any)


@dataclass(frozen=True)
class Outcome(Generic[SolutionT, TrainingT]):
    """The results of a calibration, from which its answer is written: noise, step sizes, and the paper's theorems.

    Attributes:
        solution: the certified noise of the request.
        training: the step sizes and the bound on the risk; None where no theorem bounds it.
        printed: the theorems of the algorithm's paper, in each interpretation ("reading") of their text.
    """

    solution: SolutionT
    training: TrainingT | None
    printed: tuple[PrintedReading, ...] = ()


def declared_by_all(solution: Solution[SettingFields], training: Training | None) -> tuple[Condition, ...]:
    """Return the conditions that the certified guarantee and the bound on the risk assume, each once.

    The caller must know that they hold.

    Args:
        solution: the certified noise and its guarantee.
        training: the training with its bound on the risk; None without such a bound.

    Returns:
        The conditions of the guarantee, then those of the bound.
    """
    risk_conditions = training.declared if training else ()
    return tuple(dict.fromkeys((*solution.certified.guarantee.declared, *risk_conditions)))
