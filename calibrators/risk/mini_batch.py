"""The risk bounds of mini-batch algorithms, with lower bounds for any trust and reference rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic

from typing_extensions import TypeVar

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import FRESH_NOISE, INSIDE_DOMAIN
from epsilond.calibrators.envelope import declared_answers
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.risk.answer import RiskBoundsAnswer, RunAnswer, Trust
from epsilond.calibrators.risk.baseline import mark_vacuous_bounds
from epsilond.calibrators.risk.part import HIDDEN_CONSTANTS, Bounds, NoiseCalibrator, RiskPart
from epsilond.calibrators.risk.parts import BOUNDS, RiskFields, lower_bound, ratios, reference_rates
from epsilond.calibrators.risk.rounding import round_up_bound
from epsilond.calibrators.risk.statuses import with_statuses

MiniBatchAsked = TypeVar("MiniBatchAsked", bound=RiskFields, default=Any)
"""The class of the requests."""
Found = TypeVar("Found", default=Any)
"""The class of a calibration's parameters."""


@dataclass(frozen=True, kw_only=True)
class MiniBatchRiskPart(RiskPart[MiniBatchAsked], Generic[MiniBatchAsked, Found]):
    """The computation of risk bounds for a mini-batch algorithm. Its requests extend those of the calibrator.

    Attributes:
        lower_theorems: ids of the theorems of the lower bounds.
        bounds: function that returns the upper bounds for a request, its run and the standard deviation of its noise.
        trust: trust model of the lower bound, unless the request names one.
        noise_std: function that returns the standard deviation of the noise for a request, its run and the parameters
            of its calibration.
    """

    lower_theorems: tuple[str, ...] = tuple(bound.id for bound in BOUNDS)
    bounds: Callable[[MiniBatchAsked, Run, float], Bounds]
    trust: Trust = "local"
    noise_std: Callable[[MiniBatchAsked, Run, Found], float]

    def solve(self, problem: MiniBatchAsked, calibrator: NoiseCalibrator) -> RiskBoundsAnswer:
        """Return the upper and lower bounds on the excess risk of a run, with their ratios.

        A request with noise also states the run. Otherwise the calibrator chooses the run and the smallest noise.

        Args:
            problem: the request: the run, its losses and clients and, if given, its noise.
            calibrator: the calibrator of the algorithm.

        Returns:
            The bounds with reference rates, conditions and warnings.

        Raises:
            InvalidInput: no run fits into the limits of the request.
            ConditionViolated: no noise was given, and no theorem covers this run under this neighbouring relation.
            Infeasible: no noise was given, and none of the allowed noise meets the target.
        """
        run, noise_std = self._run_and_noise(problem, calibrator)
        bounds = self.bounds(problem, run, noise_std)
        assert bounds.setting is not None  # mini-batch algorithms are in the setting of the lower bounds
        lower = (lower_bound(problem, bounds.setting, problem.trust or self.trust),)
        conditions = dict.fromkeys((INSIDE_DOMAIN, FRESH_NOISE, *bounds.declared))
        answer = RiskBoundsAnswer(
            algorithm=calibrator.name,
            measure=self.measure,
            run=RunAnswer(
                noise_std=noise_std,
                noise_source="certified" if problem.noise_std is None else "given",
                batch_size=run.batch_size,
                rounds=run.rounds,
                step_size=bounds.step_size,
                envelope_smoothness=bounds.envelope_smoothness,
            ),
            aggregates=bounds.aggregates,
            upper=with_statuses(map(round_up_bound, bounds.upper)),
            no_upper_bound=bounds.open_statement,
            lower=lower,
            reference=reference_rates(problem, bounds.setting),
            ratios=tuple(ratios(bounds.upper, lower)),
            declared_conditions=declared_answers(conditions),
            warnings=(HIDDEN_CONSTANTS, *bounds.cautions),
            engine_version=ENGINE_VERSION,
        )
        return mark_vacuous_bounds(answer, bounds.start)

    def _run_and_noise(self, problem: Any, calibrator: NoiseCalibrator) -> tuple[Run, float]:
        """Return the run and its noise: those of the request, or calibrated ones if the request gives no noise.

        Args:
            problem: the request.
            calibrator: the calibrator of the algorithm.

        Returns:
            The run, and the standard deviation σ of its noise per coordinate, root mean square over clients.
        """
        if problem.noise_std is not None:
            assert problem.batch_size is not None  # `check_run` demands the run with its noise
            assert problem.rounds is not None
            return Run(batch_size=problem.batch_size, rounds=problem.rounds), problem.noise_std

        # Theorems as papers print them ("readings") do not affect the noise, and would only take time.
        without_readings: Fields = {"readings": ()}
        parameters = calibrator.solve(replace(problem, **without_readings)).parameters
        run = Run(batch_size=parameters.batch_size, rounds=parameters.rounds)
        return run, self.noise_std(problem, run, parameters)
