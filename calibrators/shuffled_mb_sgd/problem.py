"""The question that shuffled-mb-sgd answers: a central target, a federation with a shuffler, and a learning problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault
from epsilond.accountants.quantities import request
from epsilond.accountants.quantities.risks import PointTargets
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import NOISE_CONSTANT
from epsilond.calibrators.mb_sgd.problem import PRINTED_READINGS, PacedProblem

Reading = Literal["statement", "corrected"]
READINGS: tuple[Reading, ...] = ("statement", "corrected")


@request
class ShuffledMbSgdProblem(PointTargets, PacedProblem):
    """The target (ε, δ), the federation and the learning problem. The guarantee is for the shuffled reports.

    If `batch_size` or `rounds` is left out, it is chosen: the fewest rounds, and then the smallest batch. Their
    certified bound on the excess risk must be at most 1 + `within` times the least predicted bound. The runs that are
    compared keep to `max_gradients` and `communication_budget`.
    """

    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None
    readings: Annotated[tuple[Reading, ...] | None, PRINTED_READINGS] = None

    def _crossing_faults(self) -> Iterator[Fault]:
        """Yield the faults of all algorithms with batches and rounds, and that of an unknown reading."""
        yield from super()._crossing_faults()
        if not set(self.readings or ()) <= set(READINGS):
            yield Fault("/readings", "has an unknown reading", ", ".join(READINGS))
