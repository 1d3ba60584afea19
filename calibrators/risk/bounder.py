"""The list of all algorithms' risk bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilond.accountants.json_types import JsonObject
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.risk.answer import RiskBoundsAnswer
from epsilond.calibrators.risk.part import RiskPart

if TYPE_CHECKING:
    from epsilond.calibrators.calibration import Calibrator, CostClass


@dataclass(frozen=True)
class RiskBounder:
    """The risk bounds of one algorithm, as the service, the library and the command line offer them.

    Attributes:
        calibrator: the calibrator of the algorithm, which finds the noise of a request without noise.
        part: the computation of the algorithm's risk bounds.
    """

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
        return self.part.theorems + self.part.lower_theorems

    @property
    def example(self) -> JsonObject:
        """Example of a request, in JSON form."""
        fields = {**self.calibrator.example, **self.part.example_fields}
        return {name: value for name, value in fields.items() if name not in self.part.left_out}

    def __reduce__(self) -> tuple[Callable[[Calibrator], RiskBounder], tuple[Calibrator]]:
        """Pickle as a call of `bounder_of` with the calibrator, because the functions of `part` cannot be pickled."""
        return bounder_of, (self.calibrator,)

    def cost(self, problem: Any) -> CostClass:
        """Return, before any work, whether the answer is a closed form or needs a search."""
        return "closed-form" if self.part.quick(problem) else self.calibrator.cost(problem)

    def solve(self, problem: Any) -> RiskBoundsAnswer:
        """Return the upper and lower bounds on the risk of a run, with their ratios.

        Args:
            problem: the request, of the class `problem`.

        Returns:
            The bounds with their conditions and warnings.

        Raises:
            InvalidInput: no run fits into the limits of the request, or numbers leave the range of doubles.
            ConditionViolated: no noise was given, and no theorem covers this run under this neighbouring relation.
            Infeasible: no noise was given, and none of the allowed noise meets the target.
        """
        return self.part.solve(problem, self.calibrator)


def bounder_of(calibrator: Calibrator) -> RiskBounder:
    """Return the risk bounds of a calibrator with a `risk_bounds` other than None."""
    assert calibrator.risk_bounds is not None
    return RiskBounder(calibrator, calibrator.risk_bounds)


RISK_BOUNDS: tuple[RiskBounder, ...] = tuple(
    bounder_of(calibrator) for calibrator in CALIBRATORS if calibrator.risk_bounds is not None
)
"""The risk bounds of all calibrators that have them."""
