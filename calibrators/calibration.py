"""A calibrator is a record, and its calibration is assembled here.

A record says what is asked, what a run releases at a noise multiplier (the family σ ↦ Spec), what one contribution
amounts to, and what only this algorithm has: steps and risk, printed readings, cautions. What all calibrators do is
done once, below: the search for the smallest noise, the certificate, the guarantee in words and figures, the
derivation, the comparison with the start, and the envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.structure import draws_of
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor
from epsilond.calibrators.answer import Calibration, derivation_of
from epsilond.calibrators.cautions import noise_cautions, printed_cautions
from epsilond.calibrators.certificates import Certificates
from epsilond.calibrators.envelope import declared_answers, guarantee_answer, numerical_answer
from epsilond.calibrators.risk.baseline import measured

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Sampling
    from epsilond.accountants.specs import Spec
    from epsilond.accountants.structure import Definition, Draw
    from epsilond.accountants.theorem import Condition, Step
    from epsilond.calibrators.answer import (
        Caution,
        Communication,
        ConsideredBound,
        GuaranteeAnswer,
        NumericalAnswer,
        PrintedReading,
        Risk,
        TrueFigures,
    )
    from epsilond.calibrators.certificates import Family, Truth
    from epsilond.calibrators.frontier import Choice
    from epsilond.calibrators.planning.adapter import PlanAdapter
    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.risk.baseline import Start
    from epsilond.calibrators.risk.bounder import RiskPart
    from epsilond.calibrators.search import Certified

P = ParamSpec("P")
CostClass = Literal["closed-form", "search"]


class Utility(Protocol):
    """What a run is worth at its noise: an algorithm's step sizes with the excess risk and its premises."""

    @property
    def risk(self) -> Risk | None:
        """Absent where no theorem bounds it."""

    @property
    def declared(self) -> tuple[Condition, ...]:
        """What the bound demands that only the caller can vouch for."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What was found for a problem, and what the parts of its answer are made of. Algorithms may extend it."""

    problem: Any
    target: Target
    certified: Certified
    norm: float = 1.0
    """Bound on the norm of one contribution."""
    run: Any = None
    choice: Choice | None = None
    """The run with the frontier beside it, where something was left open."""
    certificates: Certificates | None = None
    utility: Any = None
    printed: tuple[PrintedReading, ...] = ()
    true_figures: bool = True
    """Whether it is asked what is true at printed noise."""

    @property
    def noise_std(self) -> float:
        """In the units of what it is added to."""
        return self.certified.noise * self.norm

    @property
    def truth(self) -> Truth:
        """What is true at printed noise."""
        assert self.certificates is not None
        return self.if_asked(self.certificates.truth)

    def if_asked(self, truth: Callable[P, TrueFigures | None]) -> Callable[P, TrueFigures | None]:
        """The same, or what answers None where true figures are not asked for."""
        return truth if self.true_figures else _untold


def _untold(*_: Any, **__: Any) -> None:
    return None


def _nothing(solution: Solution) -> None:
    del solution


def _no_readings(solution: Solution) -> tuple[PrintedReading, ...]:
    del solution
    return ()


def _own_sampling(solution: Solution) -> Sampling:
    sampling: Sampling = solution.problem.sampling
    return sampling


def _own_draws(solution: Solution) -> tuple[Draw, ...] | None:
    if solution.certificates is None:
        return None
    return draws_of(solution.certificates.spec(solution.run), solution.problem.unit)


def _own_release(solution: Solution) -> tuple[Spec, ...]:
    assert solution.certificates is not None
    return (solution.certificates.spec(solution.run, solution.certified.noise),)


def _own_sensitivity(solution: Solution) -> float:
    return sensitivity_factor(solution.problem.relation) * solution.norm


def _own_numerical(solution: Solution) -> NumericalAnswer:
    return numerical_answer(solution.certified.guarantee, solution.target)


def declared_by_all(solution: Solution) -> tuple[Condition, ...]:
    """The premises of the certificate and of the risk bound."""
    utility = solution.utility.declared if solution.utility else ()
    return tuple(dict.fromkeys((*solution.certified.guarantee.declared, *utility)))


def usual_cautions(solution: Solution) -> Iterable[Caution]:
    """Of the noise, then of the printed readings."""
    yield from noise_cautions((solution.certified,))
    yield from printed_cautions(solution.printed, (solution.noise_std,))


def _derivation(solution: Solution) -> tuple[Step, ...]:
    return (solution.certified.guarantee.derivation,)


@dataclass(frozen=True, kw_only=True)
class Calibrator:
    """One algorithm. Routes, schema, commands, plans and documents follow from its record.

    Give `family` (and `choose`, where the problem may leave the run open), or `find` where the unknown is not one noise
    multiplier. `parameters` is the class of what to run with; it has a class method `of(solution)`. The parts from
    `sampling` on take the solution, which `find` may extend by fields of its own.
    """

    name: str
    title: str
    summary: str
    problem: type
    parameters: type
    cost: Callable[[Any], CostClass]
    """Before any work: whether the answer is a closed form."""
    theorems: tuple[str, ...]
    example: Mapping[str, Any]
    knob: str = "noise_multiplier"
    """The parameter that grows as the target gets stricter."""

    family: Family | None = None
    choose: Callable[[Any, Certificates], Choice] | None = None
    find: Callable[[Any], Solution] | None = None

    definition: Callable[[Any], Definition] = lambda _: "local"
    """Of the problem: the trust model that the guarantee speaks of."""
    sampling: Callable[[Any], Sampling] = _own_sampling
    draws: Callable[[Any], tuple[Draw, ...] | None] = _own_draws
    sensitivity: Callable[[Any], float] = _own_sensitivity
    released: Callable[[Any], tuple[Spec, ...]] = _own_release
    """All that the run releases of what is protected, at its noise: one spec for each kind of client, for a ledger."""
    guarantee: Callable[[Any], GuaranteeAnswer] | None = None
    """Instead of the certificate's, at the target."""
    numerical: Callable[[Any], NumericalAnswer] = _own_numerical

    utility: Callable[[Any], Utility | None] = _nothing
    printed: Callable[[Any], tuple[PrintedReading, ...]] = _no_readings
    communication: Callable[[Any], Communication | None] = _nothing
    considered: Callable[[Any], tuple[ConsideredBound, ...] | None] = _nothing
    derivation: Callable[[Any], tuple[Step, ...]] = _derivation
    declared: Callable[[Any], Iterable[Condition]] = declared_by_all
    cautions: Callable[[Any], Iterable[Caution]] = usual_cautions
    start: Callable[[Any], Start | None] = _nothing
    """Of the problem: what is known of the risk before the run."""

    risk: RiskPart | None = None
    """Bounds on the risk of a run, with a route and a command of their own."""
    plans: tuple[PlanAdapter, ...] = ()
    """How it reads a plan, in each of its variants."""
    plan_place: int = 0
    """Its place among the algorithms of a plan: those that take longest stand last."""

    home: str = "epsilond.calibrators"
    """The module whose CALIBRATORS it stands in. It holds functions, so other processes get it by its name there."""

    def __reduce__(self) -> tuple[Callable[[str, str], Calibrator], tuple[str, str]]:
        """By name."""
        return listed, (self.home, self.name)

    def solve(self, problem: Any, *, true_figures: bool = True) -> Calibration:
        """The calibration of a problem.

        Without `true_figures` the printed readings of some algorithms stand without what is true at their parameters,
        which takes more time than all else: enough for a picture of many calibrations.

        Guarantees: `guarantee.epsilon.upper` ≤ ε at the target δ, and `guarantee.delta.upper` ≤ δ at the target ε.

        Raises:
            InvalidInput: the budgets leave no run.
            ConditionViolated: no theorem covers what is released under this relation.
            Infeasible: no noise that is offered meets the target.
        """
        solution = replace(self.found(problem), true_figures=true_figures)
        solution = replace(solution, utility=self.utility(solution))
        solution = replace(solution, printed=self.printed(solution))
        utility = solution.utility
        answer = Calibration(
            algorithm=self.name,
            parameters=self.parameters.of(solution),  # type: ignore[attr-defined]
            guarantee=(self.guarantee or self._certified)(solution),
            numerical=self.numerical(solution),
            as_printed=solution.printed,
            risk=utility.risk if utility else None,
            communication=self.communication(solution),
            frontier=solution.choice.frontier if solution.choice else None,
            considered=self.considered(solution),
            derivation=derivation_of(*self.derivation(solution)),
            declared_conditions=declared_answers(self.declared(solution)),
            warnings=tuple(self.cautions(solution)),
            engine_version=ENGINE_VERSION,
        )
        answer = measured(answer, self.start(problem))
        object.__setattr__(answer, "problem", problem)  # of this answer alone: whoever runs it needs both
        return answer

    def found(self, problem: Any) -> Any:
        """The smallest noise of a problem and its certificate, without the parts of the answer that stand on them."""
        return self.find(problem) if self.find else self._smallest_noise(problem)

    def _smallest_noise(self, problem: Any) -> Solution:
        assert self.family is not None
        certificates = Certificates(self.family, problem)
        choice = self.choose(problem, certificates) if self.choose else None
        run = choice.run if choice else None
        return Solution(
            problem=problem,
            target=problem.target,
            certified=certificates.of(run),
            norm=certificates.norm(run),
            run=run,
            choice=choice,
            certificates=certificates,
        )

    def _certified(self, solution: Solution) -> GuaranteeAnswer:
        return guarantee_answer(
            solution.certified,
            solution.target,
            definition=self.definition(solution.problem),
            sampling=self.sampling(solution),
            sensitivity=self.sensitivity(solution),
            draws=self.draws(solution),
        )


def listed(home: str, name: str) -> Calibrator:
    """The calibrator of that name in a module's list."""
    calibrators: tuple[Calibrator, ...] = import_module(home).CALIBRATORS
    return next(one for one in calibrators if one.name == name)
