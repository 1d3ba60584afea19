"""A calibrator's risk bounds are a part of its record, and their answer is assembled here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.envelope import declared_answers
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.risk.answer import AggregatesAnswer, RiskBoundsAnswer, RunAnswer, Trust, UpperBound
from epsilond.calibrators.risk.baseline import Start, measured_bounds
from epsilond.calibrators.risk.parts import BOUNDS, Setting, lower_bound, ratios, reference_rates

if TYPE_CHECKING:
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.calibration import Calibrator, CostClass

HIDDEN_CONSTANTS = Caution(
    code="hidden-constants",
    message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What is known of a run's excess risk from above, and what lower bounds look at."""

    upper: tuple[UpperBound, ...]
    setting: Setting
    start: Start
    declared: tuple[Condition, ...] = ()
    step_size: float | None = None
    envelope_smoothness: float | None = None
    aggregates: AggregatesAnswer | None = None
    cautions: tuple[Caution, ...] = ()


def _noise_is_given(asked: Any) -> bool:
    return asked.noise_std is not None


def _of_everyone(asked: Any, run: Run, parameters: Any) -> float:
    del asked, run
    noise_std: float = parameters.noise_std
    return noise_std


@dataclass(frozen=True, kw_only=True)
class RiskPart:
    """What a record says of the risk of its runs. `problem` extends the calibrator's by `RiskFields`."""

    title: str
    summary: str
    problem: type
    theorems: tuple[str, ...]
    given: Mapping[str, Any]
    """What its example has beside the calibrator's."""
    bounds: Callable[[Any, Run, float], Bounds]
    """(request, run, noise_std) ↦ bounds."""
    trust: Trust = "local"
    quick: Callable[[Any], bool] = _noise_is_given
    """Whether a request is a closed form even where its calibration is a search."""
    noise_std: Callable[[Any, Run, Any], float] = _of_everyone
    """(request, run, a calibration's parameters) ↦ its noise."""


@dataclass(frozen=True)
class RiskBounder:
    """One algorithm's risk bounds. Route, schema and command follow from the list of them."""

    calibrator: Calibrator
    part: RiskPart

    @property
    def name(self) -> str:
        """The algorithm's."""
        return self.calibrator.name

    @property
    def title(self) -> str:
        """In a line."""
        return self.part.title

    @property
    def summary(self) -> str:
        """In a sentence."""
        return self.part.summary

    @property
    def problem(self) -> type:
        """The class of its requests."""
        return self.part.problem

    @property
    def theorems(self) -> tuple[str, ...]:
        """Those of the upper bounds, and all lower bounds."""
        return (*self.part.theorems, *(bound.id for bound in BOUNDS))

    @property
    def example(self) -> Mapping[str, Any]:
        """A body to try."""
        return {**self.calibrator.example, **self.part.given}

    def __reduce__(self) -> tuple[Callable[[Calibrator], RiskBounder], tuple[Calibrator]]:
        """By the calibrator's name."""
        return bounder_of, (self.calibrator,)

    def cost(self, asked: Any) -> CostClass:
        """Before any work: whether the answer is a closed form."""
        return "closed-form" if self.part.quick(asked) else self.calibrator.cost(asked)

    def solve(self, asked: Any) -> RiskBoundsAnswer:
        """Every bound that applies to the run. Its noise is the one given, or else the smallest certified one.

        Raises:
            InvalidInput: the budgets leave no run.
            ConditionViolated: no theorem covers this run under this relation, and no noise was given.
            Infeasible: no noise that is offered meets the target.
        """
        run, noise_std = self._run_and_noise(asked)
        found = self.part.bounds(asked, run, noise_std)
        lower = (lower_bound(asked, found.setting, asked.trust or self.part.trust),)
        answer = RiskBoundsAnswer(
            algorithm=self.name,
            run=RunAnswer(
                noise_std=noise_std,
                noise_source="certified" if asked.noise_std is None else "given",
                batch_size=run.batch_size,
                rounds=run.rounds,
                step_size=found.step_size,
                envelope_smoothness=found.envelope_smoothness,
            ),
            aggregates=found.aggregates,
            upper=found.upper,
            lower=lower,
            reference=reference_rates(asked, found.setting),
            ratios=tuple(ratios(found.upper, lower)),
            declared_conditions=declared_answers(dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *found.declared))),
            warnings=(HIDDEN_CONSTANTS, *found.cautions),
            engine_version=ENGINE_VERSION,
        )
        return measured_bounds(answer, found.start)

    def _run_and_noise(self, asked: Any) -> tuple[Run, float]:
        if asked.noise_std is not None:
            return Run(batch_size=asked.batch_size, rounds=asked.rounds), asked.noise_std
        parameters = self.calibrator.solve(replace(asked, readings=())).parameters
        run = Run(batch_size=parameters.batch_size, rounds=parameters.rounds)
        return run, self.part.noise_std(asked, run, parameters)


def bounder_of(calibrator: Calibrator) -> RiskBounder:
    """The risk bounds of a calibrator that has them."""
    assert calibrator.risk is not None
    return RiskBounder(calibrator, calibrator.risk)
