"""The risk bounds of algorithms with requests for one run: its noise is given, or the smallest certified one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol

import numpy as np
from typing_extensions import TypeVar

from epsilond.accountants import ENGINE_VERSION
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import Quantity
from epsilond.accountants.quantities.ranges import in_squares_or_zero
from epsilond.calibrators.envelope import condition_answers, declared_answers
from epsilond.calibrators.risk.answer import RiskBoundsAnswer, RunAnswer, UpperBound
from epsilond.calibrators.risk.baseline import mark_vacuous_bounds
from epsilond.calibrators.risk.part import HIDDEN_CONSTANTS, Bounds, NoiseCalibrator, RiskPart
from epsilond.calibrators.risk.parts import ratios
from epsilond.calibrators.risk.rounding import round_up_bound
from epsilond.calibrators.risk.statuses import with_statuses

if TYPE_CHECKING:
    from epsilond.accountants.attempts import ConditionResult
    from epsilond.accountants.theorem import Theorem

Asked = TypeVar("Asked", default=Any)


def noise_quantity(description: str, absent: str = "the smallest certified noise") -> Quantity:
    """Describe the field of a request with the standard deviation σ of a run's noise; 0 is a run without noise.

    Args:
        description: words for the quantity that the noise is added to, such as "on the sum of a batch".
        absent: words for the noise of a request without this field.

    Returns:
        The symbol, range and description of the field.
    """
    text = f"standard deviation per coordinate of the noise {description}. Absent: {absent}"
    return in_squares_or_zero("σ", text, "")


@dataclass(frozen=True, kw_only=True)
class NoisyRun:
    """A run with known noise, for which risk bounds are computed.

    Attributes:
        noise_std: standard deviation σ of the noise per coordinate.
        rounds: number of rounds.
        batch_size: number of records of a batch, or of users of a step; None if the algorithm has none.
        noise_source: "given" by the request, or "certified".
        details: further quantities of the run that only its algorithm knows.
    """

    noise_std: float
    rounds: int
    batch_size: int | None = None
    noise_source: Literal["given", "certified"] = "given"
    details: Any = None


@dataclass(frozen=True, kw_only=True)
class GivenNoiseRiskPart(RiskPart[Asked], Generic[Asked]):
    """The computation of risk bounds for an algorithm with requests that describe one run.

    Attributes:
        given_run: function that returns the run of a request; None if its noise is to be calibrated.
        certified_run: function that returns the run of a request with the parameters of its calibration.
        bounds: function that returns the bounds for a request and its run.
    """

    given_run: Callable[[Asked], NoisyRun | None]
    certified_run: Callable[[Asked, Any], NoisyRun]
    bounds: Callable[[Asked, NoisyRun], Bounds]

    def solve(self, problem: Asked, calibrator: NoiseCalibrator) -> RiskBoundsAnswer:
        """Return the bounds on the risk of the run that the request describes.

        If the request gives no noise, the calibrator first finds the smallest noise that meets the target.

        Args:
            problem: the request: the run, its losses and, if given, its noise.
            calibrator: the calibrator of the algorithm.

        Returns:
            Upper and lower bounds with their ratios, conditions and warnings.

        Raises:
            InvalidInput: numbers leave the range of doubles in the units of the request.
            ConditionViolated: no noise was given, and no theorem covers this run under this neighbouring relation.
            Infeasible: no noise was given, and none of the allowed noise meets the target.
        """
        run = self._run_of(problem, calibrator)
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                bounds = self.bounds(problem, run)
        except ArithmeticError:
            raise InvalidInput.at("", "the figures leave the range of doubles; choose other units") from None

        has_hidden_constants = bounds.lower or any(bound.constant == "hidden" for bound in bounds.upper)
        warnings = bounds.cautions
        if has_hidden_constants:
            warnings = (HIDDEN_CONSTANTS, *bounds.cautions)
        answer = RiskBoundsAnswer(
            algorithm=calibrator.name,
            measure=self.measure,
            run=RunAnswer(
                noise_std=run.noise_std,
                noise_source=run.noise_source,
                batch_size=run.batch_size,
                rounds=run.rounds,
                step_size=bounds.step_size,
            ),
            upper=with_statuses(map(round_up_bound, bounds.upper)),
            no_upper_bound=bounds.open_statement,
            lower=bounds.lower,
            ratios=tuple(ratios(bounds.upper, bounds.lower)),
            declared_conditions=declared_answers(dict.fromkeys(bounds.declared)),
            warnings=warnings,
            engine_version=ENGINE_VERSION,
        )
        return mark_vacuous_bounds(answer, bounds.start)

    def _run_of(self, problem: Asked, calibrator: NoiseCalibrator) -> NoisyRun:
        """Return the run that the request describes, with the smallest certified noise if it gives none.

        Args:
            problem: the request: the run, its losses and, if given, its noise.
            calibrator: the calibrator of the algorithm.

        Returns:
            The run, which says whether its noise was given or certified.

        Raises:
            NoCertificate: no noise was given, and none can be certified.
        """
        run = self.given_run(problem)
        if run is not None:
            return run
        parameters = _calibrate(problem, calibrator)
        return replace(self.certified_run(problem, parameters), noise_source="certified")


class CertifiedParameters(Protocol):
    """Parameters of a calibration with its certified noise."""

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise of a coordinate."""


def run_at_certified_noise(problem: Any, parameters: CertifiedParameters) -> NoisyRun:
    """Build the run with the rounds of a request and the noise that a calibration has certified for it."""
    return NoisyRun(noise_std=parameters.noise_std, rounds=problem.rounds)


def _calibrate(problem: Any, calibrator: NoiseCalibrator) -> Any:
    """Calibrate the noise of a request, and return the parameters of the calibration.

    Theorems as papers print them ("readings") are not evaluated, because the certified noise does not depend on them.

    Args:
        problem: the request, a dataclass.
        calibrator: the calibrator of the algorithm.

    Returns:
        The parameters, with the smallest certified noise. Their class depends on the algorithm.
    """
    has_readings = any(field.name == "readings" for field in fields(problem))
    changes: Fields = {"readings": ()} if has_readings else {}
    return calibrator.solve(replace(problem, **changes)).parameters


def explicit_upper(
    theorem: Theorem,
    terms: Mapping[str, float],
    *,
    value: float | None = None,
    reading: Literal["statement", "corrected"] = "statement",
    conditions: Iterable[ConditionResult] = (),
) -> UpperBound:
    """Build an upper bound with explicit constants, so that it has a value.

    Args:
        theorem: the theorem of the bound.
        terms: the named terms of the bound, in units of the risk.
        value: the bound; None for the sum of its terms.
        reading: "corrected" if an erratum changes the printed formula.
        conditions: the conditions that were checked, with the values of both sides.

    Returns:
        The bound with its conditions and its finite terms. Its value is infinite if a condition fails.

    Raises:
        OverflowError: the value is NaN, because terms overflow.
    """
    checked = tuple(conditions)
    total = math.fsum(terms.values()) if value is None else value
    if any(condition.holds == "no" for condition in checked):
        total = math.inf
    if math.isnan(total):
        raise OverflowError  # caught by `GivenNoiseRiskPart.solve`, which names the remedy
    return UpperBound(
        theorem=theorem.id,
        reading=reading,
        constant="explicit",
        value=total,
        terms={name: term for name, term in terms.items() if math.isfinite(term)},
        conditions=condition_answers(checked),
    )


def hidden_upper(
    theorem: Theorem,
    scale: float,
    terms: Mapping[str, float],
    *,
    reading: Literal["statement", "corrected"] = "statement",
    conditions: Iterable[ConditionResult] = (),
) -> UpperBound:
    """Build an upper bound with a hidden constant, of which only the order of growth is known.

    Args:
        theorem: the theorem of the bound.
        scale: the order of growth, in units of the risk up to a constant factor.
        terms: the named terms of the order, in the same units.
        reading: "corrected" if an erratum changes the printed formula.
        conditions: the conditions that were checked, with the values of both sides.

    Returns:
        The bound, with the order in `scale` and without a value.
    """
    return UpperBound(
        theorem=theorem.id,
        reading=reading,
        constant="hidden",
        scale=scale,
        terms=dict(terms),
        conditions=condition_answers(conditions),
    )
