"""Order of the excess risk of one pass for convex losses, for which Asoodeh et al. give no constant."""

from __future__ import annotations

import math

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import ParticipantFields
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem


@formula(given="One pass over n users, m in each step.", bounded=False)
def order(*, run: ParticipantFields) -> Outputs:
    """Return the order 1/√T of the excess risk of one pass of noisy projected SGD on convex losses.

    It is not a bound, because Asoodeh et al. state O(1/√T) without a constant.

    Args:
        run: the number n of users, and the number m of users in a step.

    Returns:
        `steps`, the number T = ⌊n/m⌋ of steps, and `excess_risk_scale`, 1/√T.
    """
    steps = run.clients // run.participants
    return {"steps": steps, "excess_risk_scale": 1.0 / math.sqrt(steps)}


CONVEX = Theorem(
    id="asoodeh.convex-losses",
    title="One pass where losses are not strongly convex: an order",
    statement=(
        "Without strong convexity the excess risk after T = ⌊n/m⌋ steps is O(1/√T), for n users in batches of "
        "m. The paper gives no constant, so that this is an order and not a bound."
    ),
    source=Source("asoodeh2021", "the remark on losses that are not strongly convex"),
    status=Status.UNPROVED,
    conditions=(
        Condition(
            "constant-is-known",
            "the constant of the order O(1/√T), which the text does not give, is known",
            undecidable=True,
        ),
    ),
    constants="hidden",
    formula=order,
    examples=({"clients": 1000, "participants": 30},),
)

THEOREMS: tuple[Theorem, ...] = (CONVEX,)
