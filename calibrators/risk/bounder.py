"""The answer to a question about the risk bounds of a calibrator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import Fields, JsonObject
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.envelope import declared_answers
from epsilond.calibrators.mb_sgd.problem import PacedProblem, Run
from epsilond.calibrators.risk.answer import RiskBoundsAnswer, RunAnswer
from epsilond.calibrators.risk.baseline import measured_bounds
from epsilond.calibrators.risk.part import RiskPart
from epsilond.calibrators.risk.parts import BOUNDS, RiskFields, lower_bound, ratios, reference_rates

if TYPE_CHECKING:
    from epsilond.calibrators.calibration import Calibrator, CostClass

HIDDEN_CONSTANTS = Caution(
    code="hidden-constants",
    message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
)


@dataclass(frozen=True)
class RiskBounder:
    """One algorithm's risk bounds. Route, schema and command follow from the list of them."""

    calibrator: Calibrator
    part: RiskPart

    @property
    def name(self) -> str:
        """Name of the algorithm."""
        return self.calibrator.name

    @property
    def title(self) -> str:
        """Title in one line."""
        return self.part.title

    @property
    def summary(self) -> str:
        """Summary in one sentence."""
        return self.part.summary

    @property
    def problem(self) -> type:
        """Class of the requests."""
        return self.part.problem

    @property
    def theorems(self) -> tuple[str, ...]:
        """Ids of the theorems of the upper bounds and of all lower bounds."""
        return self.part.theorems + tuple(bound.id for bound in BOUNDS)

    @property
    def example(self) -> JsonObject:
        """A body to try."""
        return {**self.calibrator.example, **self.part.example_fields}

    def __reduce__(self) -> tuple[Callable[[Calibrator], RiskBounder], tuple[Calibrator]]:
        """Pickle by the name of the calibrator."""
        return bounder_of, (self.calibrator,)

    def cost(self, problem: RiskFields) -> CostClass:
        """Return before any work whether the answer is a closed form."""
        return "closed-form" if self.part.quick(problem) else self.calibrator.cost(problem)

    def solve(self, problem: RiskFields) -> RiskBoundsAnswer:
        """Return the upper and lower bounds on the excess risk of a run, with their ratios.

        The run and its noise are those of the request if it gives a noise. Otherwise they are calibrated, with the
        smallest certified noise.

        Raises:
            InvalidInput: the budgets leave no run.
            ConditionViolated: no theorem covers this run under this relation, and no noise was given.
            Infeasible: no noise that is offered meets the target.
        """
        run, noise_std = self._run_and_noise(problem)
        bounds = self.part.bounds(problem, run, noise_std)
        lower = (lower_bound(problem, bounds.setting, problem.trust or self.part.trust),)
        conditions = dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *bounds.declared))
        answer = RiskBoundsAnswer(
            algorithm=self.name,
            run=RunAnswer(
                noise_std=noise_std,
                noise_source="certified" if problem.noise_std is None else "given",
                batch_size=run.batch_size,
                rounds=run.rounds,
                step_size=bounds.step_size,
                envelope_smoothness=bounds.envelope_smoothness,
            ),
            aggregates=bounds.aggregates,
            upper=bounds.upper,
            lower=lower,
            reference=reference_rates(problem, bounds.setting),
            ratios=tuple(ratios(bounds.upper, lower)),
            declared_conditions=declared_answers(conditions),
            warnings=(HIDDEN_CONSTANTS, *bounds.cautions),
            engine_version=ENGINE_VERSION,
        )
        return measured_bounds(answer, bounds.start)

    def _run_and_noise(self, problem: RiskFields) -> tuple[Run, float]:
        """Return the run and its σ per coordinate: as given, or calibrated if the request gives no noise."""
        assert isinstance(problem, PacedProblem)
        if problem.noise_std is not None:
            assert problem.batch_size is not None
            assert problem.rounds is not None
            return Run(batch_size=problem.batch_size, rounds=problem.rounds), problem.noise_std
        without_readings: Fields = {"readings": ()}
        parameters = self.calibrator.solve(replace(problem, **without_readings)).parameters
        run = Run(batch_size=parameters.batch_size, rounds=parameters.rounds)
        return run, self.part.noise_std(problem, run, parameters)


def bounder_of(calibrator: Calibrator) -> RiskBounder:
    """Return the risk bounds of a calibrator that has them."""
    assert calibrator.risk_bounds is not None
    return RiskBounder(calibrator, calibrator.risk_bounds)


RISK_BOUNDS: tuple[RiskBounder, ...] = tuple(
    bounder_of(calibrator) for calibrator in CALIBRATORS if calibrator.risk_bounds is not None
)
"""The risk bounds of all calibrators that have them."""
