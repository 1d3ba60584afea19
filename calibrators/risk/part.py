"""The risk bounds of a calibrator of any algorithm: its request, its theorems, and its answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol

from typing_extensions import TypeVar

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.theorem import Condition
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.risk.answer import AggregatesAnswer, LowerBound, UpperBound
from epsilond.calibrators.risk.baseline import Start
from epsilond.calibrators.risk.parts import LowerBoundSetting

if TYPE_CHECKING:
    from epsilond.calibrators.risk.answer import Measure, RiskBoundsAnswer

Asked = TypeVar("Asked", default=Any)
"""The class of the requests."""
HIDDEN_CONSTANTS = Caution(
    code="hidden-constants",
    message="lower bounds and scales leave constants and logarithms out: they are orders, never bounds",
)


class NoiseCalibrator(Protocol):
    """A calibrator that finds the smallest certified noise."""

    name: str

    def solve(self, problem: Any) -> Any:
        """Return the calibration of a request, with its `parameters`."""


def _noise_is_given(problem: Any) -> bool:
    """Return whether a request gives the noise of its run, so that nothing is calibrated."""
    return problem.noise_std is not None


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The upper bounds on a run's risk, with the quantities that they are compared with.

    Attributes:
        upper: the upper bounds.
        start: the bound on the risk before the run.
        setting: the quantities that the lower bounds of Lowy and Razaviyayn depend on; None if these do not apply.
        lower: lower bounds that are already evaluated.
        declared: conditions that the library cannot check, and that the caller must ensure.
        open_question: the reason why no theorem bounds the risk of this run; None if one does.
        step_size: step size that the bounds are for; None if there is no single one.
        envelope_smoothness: smoothness of the Moreau envelope that replaces the loss; None if the loss is smooth.
        aggregates: averages over clients that the theorems depend on; None if they use none.
        cautions: warnings about the bounds.
    """

    upper: tuple[UpperBound, ...]
    start: Start
    setting: LowerBoundSetting | None = None
    lower: tuple[LowerBound, ...] = ()
    declared: tuple[Condition, ...] = ()
    open_question: str | None = None
    step_size: float | None = None
    envelope_smoothness: float | None = None
    aggregates: AggregatesAnswer | None = None
    cautions: tuple[Caution, ...] = ()

    @property
    def open_statement(self) -> str | None:
        """Reason why no upper bound has a value; None if one has, or if there is no open question."""
        has_value = any(bound.value is not None for bound in self.upper)
        return None if has_value else self.open_question


@dataclass(frozen=True, kw_only=True)
class RiskPart(ABC, Generic[Asked]):
    """Base class of the computation of risk bounds for one algorithm. Its requests extend those of the calibrator.

    Attributes:
        title: title in one line.
        summary: summary in one or two sentences.
        problem: class of the requests.
        theorems: ids of the theorems of the upper bounds.
        lower_theorems: ids of the theorems of the lower bounds and of the reference rates.
        example_fields: fields that are added to the calibrator's example of a request.
        left_out: fields that are removed from the calibrator's example.
        measure: the quantity that is bounded, for example the excess risk.
        quick: function that returns whether the bounds of a request need no search; by default, if its noise is given.
    """

    title: str
    summary: str
    problem: type[Asked]
    theorems: tuple[str, ...]
    lower_theorems: tuple[str, ...] = ()
    example_fields: JsonObject
    left_out: Sequence[str] = field(default=())
    measure: Measure = "excess-risk"
    quick: Callable[[Asked], bool] = _noise_is_given

    @abstractmethod
    def solve(self, problem: Asked, calibrator: NoiseCalibrator) -> RiskBoundsAnswer:
        """Return the bounds on the risk of the run of a request.

        Args:
            problem: the request: the run, its losses and, if given, its noise.
            calibrator: the calibrator that finds the smallest noise if the request gives none.

        Returns:
            Upper and lower bounds with their ratios, conditions and warnings.

        Raises:
            InvalidInput: no run fits into the limits of the request, or numbers leave the range of doubles.
            NoCertificate: no noise was given, and none can be certified.
        """
