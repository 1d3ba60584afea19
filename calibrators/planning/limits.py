"""What limits a run: rounds, traffic and how often one client reports; and which of them a run exceeds.

`likely_rounds` chooses the rounds of an algorithm that does not choose its own, by the noise that is likely. The rule
is that of `dp-fedavg`: with ν the norm of a round's noise over the largest norm of its mean, the fewest rounds at which
√((1 + ν²)/R) is within a tenth of the least. The chosen run is then certified by the algorithm itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import Target
from epsilond.calibrators.dp_fedavg.problem import USUAL_ROUNDS
from epsilond.calibrators.dp_fedavg.rounds import WITHIN, ladder
from epsilond.calibrators.planning.answer import Reason

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation
    from epsilond.calibrators.planning.problem import PlanProblem

BITS_PER_COORDINATE = 32
CHOSEN = Reason(
    message="the fewest rounds whose noise against the signal is about within a tenth of the least, within the limits "
    f"and {USUAL_ROUNDS}",
    pointer="/rounds",
)


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


def likely_rounds(
    plan: PlanProblem, *, drawn: int, population: int, dimension: int, relation: Relation, seen: bool = False
) -> int | None:
    """The rounds of noisy means of `drawn` of `population`, those that the plan gives if it does.

    Where the draw is `seen`, a unit pays for the rounds that it is drawn for. None where the plan has no target ε.
    """
    if plan.rounds is not None or plan.epsilon is None:
        return plan.rounds
    target = Target.of(plan.epsilon, plan.delta, plan.log10_delta)
    rate, distance = drawn / population, sensitivity_factor(relation)
    limit = most_rounds(plan, dimension)
    shares = {}
    for rounds in ladder(USUAL_ROUNDS if limit is None else max(1, min(limit, USUAL_ROUNDS))):
        if seen:
            noise = likely_noise(target, rate=1.0, rounds=math.ceil(rate * rounds), distance=distance)
        else:
            noise = likely_noise(target, rate=rate, rounds=rounds, distance=distance)
        shares[rounds] = math.sqrt((1.0 + dimension * (noise / drawn) ** 2) / rounds)
    return min(rounds for rounds, share in shares.items() if share <= WITHIN * min(shares.values()))
