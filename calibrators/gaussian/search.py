"""The largest number of rounds or records, and the largest sampling rate, whose certified δ meets a target."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, Infeasible
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.parameter_search import Limits, least_parameter
from epsilond.calibrators.search import LOG_10, SLACKS, Certified, nearest_of, shortfall_of

if TYPE_CHECKING:
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.target import Target
    from epsilond.calibrators.search import Family

LEAST_RATE = 1e-12
"""Smallest sampling rate that is offered."""
RARITIES = Limits(0.0, -math.log(LEAST_RATE))
"""Range of −log q for the offered rates q."""


def largest_count(counted: Family, target: Target, *, most: int, name: str, guess: float) -> Certified:
    """Return the largest count from 1 to `most` whose certified upper bound on δ meets the target.

    The search doubles from an estimate and bisects on the coarse curve. The last steps use the certified curve.

    Args:
        counted: function from a count to its guarantee.
        target: the target (ε, δ).
        most: largest count on offer.
        name: name of the count in error messages.
        guess: initial estimate of the count.

    Guarantees: the answer meets the target by evaluation. `slack` is 0 if the lower bound at one more misses it.

    Raises:
        Infeasible: a count of one misses the target.
    """

    @functools.cache
    def meets(count: int, effort: Effort) -> bool:
        try:
            return counted(count, effort).curve.upper_log_delta(target.epsilon) <= target.log_delta
        except BeyondBudget:  # what cannot be certified is not offered
            return False

    start = int(min(max(guess, 1.0), most))
    low, high = (start, start + 1) if meets(start, "coarse") else (start - 1, start)
    while low > 0 and not meets(low, "coarse"):
        low, high = low // 2, low
    while high <= most and meets(high, "coarse"):
        low, high = high, 2 * high
    rough = bisect_integers(lambda count: meets(count, "coarse"), low, min(high, most + 1))
    low, step = rough, 1
    while low > 0 and not meets(low, "default"):
        low, step = max(low - step, 0), 2 * step
    high, step = max(rough, low) + 1, 1
    while high <= most and meets(high, "default"):
        low, high, step = high, high + 2 * step, 2 * step
    best = bisect_integers(lambda count: meets(count, "default"), low, min(high, most + 1))
    if best == 0:
        upper = counted(1, "default").curve.upper_log_delta(target.epsilon)
        raise Infeasible(
            f"even {name} = 1 misses the target",
            ConditionResult(
                "target",
                "log10 δ of a count of one is at most the target",
                Verdict.NO,
                upper / LOG_10,
                target.log10_delta,
            ),
            nearest_of(counted(1, "default"), target),
        )
    try:
        beyond = counted(best + 1, "default").curve.bound_log_delta(target.epsilon).lower if best < most else -math.inf
    except BeyondBudget:
        beyond = -math.inf
    return Certified(best, counted(best, "default"), 0.0 if beyond > target.log_delta else None)


def largest_rate(rated: Family, target: Target, *, guess: float) -> Certified:
    """Return the largest sampling rate whose certified upper bound on δ meets the target, within 1e-4.

    Args:
        rated: function from a rate to its guarantee.
        target: the target (ε, δ).
        guess: initial estimate of the rate.

    Raises:
        Infeasible: even the smallest rate offered misses the target.
    """
    # The search is written for a parameter that is safer when larger: −log q.
    shortfall = shortfall_of(lambda rarity: rated(math.exp(-rarity), "default"), target)
    rarity = least_parameter(shortfall, -math.log(guess), RARITIES)
    if rarity is None:
        raise Infeasible(
            "even the smallest rate that is offered misses the target",
            ConditionResult("rate-offered", "the rate that is needed is offered", Verdict.NO, 0.0, LEAST_RATE),
            nearest_of(rated(LEAST_RATE, "default"), target),
        )
    if rarity == RARITIES.least:
        return Certified(1.0, rated(1.0, "default"), None)
    rate = math.exp(-rarity)
    missed = (
        slack
        for slack in SLACKS
        if rated(min(rate * (1.0 + slack), 1.0), "default").curve.bound_log_delta(target.epsilon).lower
        > target.log_delta
    )
    return Certified(rate, rated(rate, "default"), next(missed, None))
