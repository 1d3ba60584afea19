"""The risk bounds of a calibrator: its request, its upper bounds, and its noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Condition
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.risk.answer import AggregatesAnswer, Trust, UpperBound
from epsilond.calibrators.risk.baseline import Start
from epsilond.calibrators.risk.parts import LowerBoundSetting, RiskFields

Asked = TypeVar("Asked", bound=RiskFields, default=Any)
"""The class of the requests."""
Found = TypeVar("Found", default=Any)
"""The class of a calibration's parameters."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The upper bounds on a run's excess risk, and the quantities that lower bounds depend on."""

    upper: tuple[UpperBound, ...]
    setting: LowerBoundSetting
    start: Start
    declared: tuple[Condition, ...] = ()
    step_size: float | None = None
    envelope_smoothness: float | None = None
    aggregates: AggregatesAnswer | None = None
    cautions: tuple[Caution, ...] = ()


def _noise_is_given(problem: RiskFields) -> bool:
    return problem.noise_std is not None


@dataclass(frozen=True, kw_only=True)
class RiskPart(Generic[Asked, Found]):
    """The risk bounds of a calibrator. The request `problem` extends that of the calibrator by `RiskFields`."""

    title: str
    summary: str
    problem: type[Asked]
    theorems: tuple[str, ...]
    example_fields: JsonObject
    """Fields of its example that are added to the calibrator's example."""
    bounds: Callable[[Asked, Run, float], Bounds]
    """(request, run, noise_std) ↦ bounds."""
    trust: Trust = "local"
    quick: Callable[[Asked], bool] = _noise_is_given
    """Function that returns whether a request is a closed form even if its calibration is a search."""
    noise_std: Callable[[Asked, Run, Found], float]
    """(request, run, a calibration's parameters) ↦ its noise."""
