"""What limits a run: rounds, traffic and how often one client reports; and which of them a run exceeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.json_types import JsonObject

if TYPE_CHECKING:
    from epsilond.calibrators.planning.problem import PlanProblem

BITS_PER_COORDINATE = 32


def share_drawn(plan: PlanProblem) -> Fraction:
    """M/N: how likely a client is to report in a round."""
    assert plan.clients is not None
    return Fraction(plan.reporting or plan.clients, plan.clients)


def most_rounds(plan: PlanProblem, dimension: int | None = None) -> int | None:
    """The rounds that the limits leave room for, of messages of 32 bits a coordinate; None where nothing limits them.

    Zero where they do not pay for one round.
    """
    if plan.clients is None:
        return plan.max_rounds
    found = [] if plan.max_rounds is None else [plan.max_rounds]
    size = dimension or plan.dimension
    if plan.max_reports_per_client is not None:
        found.append(math.floor(Fraction(plan.max_reports_per_client) / share_drawn(plan)))
    if plan.max_bytes_per_client is not None and size is not None:
        found.append(math.floor(8 * plan.max_bytes_per_client / (BITS_PER_COORDINATE * size * share_drawn(plan))))
    if plan.communication_budget is not None and size is not None:
        found.append(plan.communication_budget // (BITS_PER_COORDINATE * size * (plan.reporting or plan.clients)))
    return min(found, default=None)


def as_budget(plan: PlanProblem) -> JsonObject:
    """All limits as one on the bits of all clients, for algorithms that choose their rounds within such a budget."""
    most = most_rounds(plan)
    if most is None or plan.dimension is None or plan.clients is None:
        return {}
    return {
        "communication_budget": max(1, most * BITS_PER_COORDINATE * plan.dimension * (plan.reporting or plan.clients))
    }


def exceeded(plan: PlanProblem, *, rounds: int | None, bits: int | None) -> Iterator[str]:
    """The limits that a run with so many rounds and bits, of all clients together, does not keep to."""
    if plan.clients is None:
        return
    if plan.max_rounds is not None and rounds is not None and rounds > plan.max_rounds:
        yield "max_rounds"
    if plan.communication_budget is not None and bits is not None and bits > plan.communication_budget:
        yield "communication_budget"
    each = None if bits is None else Fraction(bits, 8 * plan.clients)
    if plan.max_bytes_per_client is not None and each is not None and each > plan.max_bytes_per_client:
        yield "max_bytes_per_client"
    often = None if rounds is None else rounds * share_drawn(plan)
    if plan.max_reports_per_client is not None and often is not None and often > plan.max_reports_per_client:
        yield "max_reports_per_client"
