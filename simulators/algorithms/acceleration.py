"""Requested stages of a run of Algorithm 2 of Lowy and Razaviyayn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import Quantity, Rounds, request

PROX_WEIGHT = Quantity(
    symbol="v",
    unit="loss/length²",
    gt=0,
    le=1e100,
    description="weight of the proximal term in the steps of this stage. A larger weight gives shorter steps",
)
STAGES = Quantity(description="stages of the run, in their order. Their rounds add up to the rounds of the run")
"""Description of the field `stages`."""
MOST_STAGES = 100


@request
class StageRequest:
    """One stage of Algorithm 2."""

    rounds: Rounds
    prox_weight: Annotated[float, PROX_WEIGHT]


def check_stages(stages: Sequence[StageRequest] | None, rounds: int) -> None:
    """Check the number of stages of an accelerated run, and that their rounds add up to those of the run.

    A stage is a number of consecutive rounds with one prox weight, a factor of the step sizes.

    Args:
        stages: requested stages; None if they are to be calibrated.
        rounds: rounds of the whole run.

    Raises:
        InvalidInput: there is no stage, there are too many, or their rounds do not add up to `rounds`.
    """
    if stages is None:
        return
    if not 1 <= len(stages) <= MOST_STAGES:
        raise InvalidInput.at("/stages", "has the wrong number of stages", allowed=f"≥ 1 and ≤ {MOST_STAGES}")
    if sum(stage.rounds for stage in stages) != rounds:
        raise InvalidInput(Fault("/stages", "have rounds that do not add up to rounds", f"{rounds} in all"))
