"""The question that shuffled-mb-sgd answers: a central target, a federation with a shuffler, and a learning problem."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.errors import Fault
from epsilond.accountants.quantities import request
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import NOISE_CONSTANT
from epsilond.calibrators.mb_sgd.problem import PRINTED_READINGS, PacedProblem

Reading = Literal["statement", "corrected"]
READINGS: tuple[Reading, ...] = ("statement", "corrected")


@request
class ShuffledMbSgdProblem(PacedProblem):
    """The target, and the shape of the federation and of the learning problem. ε and δ are central.

    Give `batch_size` and `rounds`, or leave either out to have it chosen: the smallest run, fewest rounds and then
    least batch, whose certified bound on the excess risk is at most 1 + `within` times what the best one within
    `max_gradients` and `communication_budget` is predicted to have.
    """

    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None
    readings: Annotated[tuple[Reading, ...] | None, PRINTED_READINGS] = None

    def _crossings(self) -> list[tuple[Fault, bool]]:
        unknown = not set(self.readings or ()) <= set(READINGS)
        return [*super()._crossings(), (Fault("/readings", "has an unknown reading", ", ".join(READINGS)), unknown)]
