"""How many rounds a plan gives an algorithm that does not choose its own: by the noise that is likely, in no time.

The rule is that of `dp-fedavg`: with ν the norm of a round's noise over the largest norm of its mean, the fewest rounds
at which √((1 + ν²)/R) is within a tenth of the least. What is chosen is then certified by the algorithm itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.estimates.noise import likely_noise
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.target import Target
from epsilond.calibrators.dp_fedavg.problem import USUAL_ROUNDS
from epsilond.calibrators.dp_fedavg.rounds import WITHIN, ladder
from epsilond.calibrators.planning.answer import Reason
from epsilond.calibrators.planning.limits import most_rounds

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation
    from epsilond.calibrators.planning.problem import PlanProblem

CHOSEN = Reason(
    message="the fewest rounds whose noise against the signal is about within a tenth of the least, within the limits "
    f"and {USUAL_ROUNDS}",
    pointer="/rounds",
)


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
