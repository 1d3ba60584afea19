"""Limits of a run on rounds, traffic and reports per client, and the limits that a run exceeds.

`likely_rounds` chooses the rounds of an algorithm that does not choose its own, by the estimated noise. The rule is
that of `dp-fedavg`: the fewest rounds R at which √((1 + ν²)/R) is within a tenth of the least. Here ν is the norm of a
round's noise over the largest norm of its mean. The chosen run is then certified by the algorithm itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.structure import sensitivity_factor
from epsilond.calibrators.dp_fedavg.problem import USUAL_ROUNDS
from epsilond.calibrators.dp_fedavg.rounds import WITHIN, ladder
from epsilond.calibrators.planning.answer import Reason

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation
    from epsilond.calibrators.planning.problem import PlanProblem

BITS_PER_COORDINATE = 32
"""Bits of one coordinate of a message, a single-precision number."""
CHOSEN = Reason(
    message="the fewest rounds with a ratio of noise to signal about within a tenth of the least, within the limits "
    f"and {USUAL_ROUNDS}",
    pointer="/rounds",
)


def participation_rate(plan: PlanProblem) -> Fraction:
    """Return M/N, the probability that a client reports in a round, for M participants of N clients.

    Args:
        plan: the plan, which must give the number of clients. All clients take part if it gives no participants.

    Returns:
        The exact fraction, in (0, 1].
    """
    assert plan.clients is not None
    return Fraction(plan.reporting or plan.clients, plan.clients)


def most_rounds(plan: PlanProblem, dimension: int | None = None) -> int | None:
    """Return the largest number of rounds within the plan's limits, for messages of 32 bits per coordinate.

    The limits are the rounds, the reports and bytes of one client, and the traffic of all clients. Without a number of
    clients, only the limit on rounds is known.

    Args:
        plan: the plan, with its limits.
        dimension: number of coordinates of a message; None for that of the plan. If the plan has none either, limits on
            traffic are ignored.

    Returns:
        The number of rounds; None if nothing limits the rounds, and 0 if the limits do not allow one round.
    """
    if plan.clients is None:
        return plan.max_rounds
    participants = plan.reporting or plan.clients
    limits = [] if plan.max_rounds is None else [plan.max_rounds]
    if plan.max_reports_per_client is not None:
        limits.append(math.floor(Fraction(plan.max_reports_per_client) / participation_rate(plan)))

    # Limits on traffic need the size of a message.
    size = dimension or plan.dimension
    if size is not None:
        message_bits = BITS_PER_COORDINATE * size
        if plan.max_bytes_per_client is not None:
            limits.append(math.floor(8 * plan.max_bytes_per_client / (message_bits * participation_rate(plan))))
        if plan.communication_budget is not None:
            limits.append(plan.communication_budget // (message_bits * participants))
    return min(limits, default=None)


def limits_as_budget(plan: PlanProblem) -> JsonObject:
    """Convert all limits on rounds to one communication budget in bits, within which an algorithm chooses its rounds.

    Args:
        plan: the plan, with its limits.

    Returns:
        The field `communication_budget`, at least 1. No field if nothing limits the rounds, or if the dimension or the
        number of clients is unknown.
    """
    most = most_rounds(plan)
    if most is None or plan.dimension is None or plan.clients is None:
        return {}
    bits_per_round = BITS_PER_COORDINATE * plan.dimension * (plan.reporting or plan.clients)
    return {"communication_budget": max(1, most * bits_per_round)}


def exceeded_limits(plan: PlanProblem, *, rounds: int | None, bits: int | None) -> Iterator[str]:
    """Yield the names of the plan's limits that a run exceeds; none if the plan has no number of clients.

    Args:
        plan: the plan, with its number of clients and its limits.
        rounds: rounds of the run; None if unknown.
        bits: bits that all clients send over the run; None if unknown.

    Yields:
        Names of fields of the plan. An unknown figure exceeds no limit.
    """
    if plan.clients is None:
        return
    if _exceeds(rounds, plan.max_rounds):
        yield "max_rounds"
    if _exceeds(bits, plan.communication_budget):
        yield "communication_budget"

    # Bytes and reports of one client are averages over all clients.
    bytes_per_client = None if bits is None else Fraction(bits, 8 * plan.clients)
    if _exceeds(bytes_per_client, plan.max_bytes_per_client):
        yield "max_bytes_per_client"
    reports_per_client = None if rounds is None else rounds * participation_rate(plan)
    if _exceeds(reports_per_client, plan.max_reports_per_client):
        yield "max_reports_per_client"


def _exceeds(value: Fraction | int | None, limit: float | None) -> bool:
    """Return whether a value exceeds a limit; False if either is None."""
    return value is not None and limit is not None and value > limit


def likely_rounds(
    plan: PlanProblem, *, drawn: int, population: int, dimension: int, relation: Relation, seen: bool = False
) -> int | None:
    """Return the rounds of the plan or, if it has none, a suitable number by a quick estimate of the noise.

    A round releases the noisy mean of a random batch of records or clients. The result is the fewest rounds R at which:

        √((1 + ν²)/R)

    is within the factor `WITHIN` of its least value. Here ν is the norm of a round's noise over the largest norm of its
    mean.

    Args:
        plan: the plan, with its privacy target and its limits, and with the rounds if it fixes them.
        drawn: size of the batch.
        population: number of records or clients that the batch is drawn from.
        dimension: number of coordinates of the mean.
        relation: neighbouring relation.
        seen: whether the observer sees the batch's members. Then sampling does not amplify privacy, but only the rounds
            in which a member is drawn count. The estimate uses their expected number.

    Returns:
        The rounds; None if the plan gives neither rounds nor a target.
    """
    target = plan.target
    if plan.rounds is not None or target is None:
        return plan.rounds
    rate = drawn / population
    distance = sensitivity_factor(relation)
    limit = most_rounds(plan, dimension)
    most = USUAL_ROUNDS if limit is None else max(1, min(limit, USUAL_ROUNDS))

    ratio_by_rounds = {}
    for rounds in ladder(most):
        if seen:
            noise = likely_noise(target, rate=1.0, rounds=math.ceil(rate * rounds), distance=distance)
        else:
            noise = likely_noise(target, rate=rate, rounds=rounds, distance=distance)
        squared_noise_to_signal = dimension * (noise / drawn) ** 2
        ratio_by_rounds[rounds] = math.sqrt((1.0 + squared_noise_to_signal) / rounds)

    least_ratio = min(ratio_by_rounds.values())
    return min(rounds for rounds, ratio in ratio_by_rounds.items() if ratio <= WITHIN * least_ratio)
