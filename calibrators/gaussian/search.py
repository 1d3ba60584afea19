"""The largest number of rounds or records, and the largest sampling rate, with a certified δ that meets a target."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.targets import meeting, provably_misses
from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, Infeasible
from epsilond.accountants.numerics.root_search import bisect_integers
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.parameter_search import Limits
from epsilond.calibrators.search import SLACKS, Certified
from epsilond.calibrators.targets.failures import LOG_10, nearest_of, require_figure
from epsilond.calibrators.targets.shortfalls import least_for_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.rule import Effort
    from epsilond.accountants.target import Target
    from epsilond.calibrators.search import Family

LEAST_RATE = 1e-12
"""Smallest sampling rate that is offered."""
RARITIES = Limits(0.0, -math.log(LEAST_RATE))
"""Range of −log q for the offered rates q."""


def largest_count(counted: Family, target: Target, *, most: int, name: str, guess: float) -> Certified:
    """Return the largest count from 1 to `most` for which the certified upper bound on δ meets the target.

    The count is, for example, the number of rounds. δ rises with it. The search uses bounds on δ that are coarse and
    quick to compute, and corrects the result by the full ones.

    Args:
        counted: function from a count to its guarantee.
        target: the target (ε, δ) or risk.
        most: the largest count that may be returned.
        name: name of the count in error messages.
        guess: initial estimate of the count.

    Returns:
        The count, in the field `noise` of the record, with its guarantee. The field `slack` is 0 if the next larger
        count is proved to miss the target, and None otherwise.

    Guarantees: the answer meets the target by evaluation.

    Raises:
        Infeasible: the target is missed even if the count is 1.
        ConditionViolated: the target is a risk, and no theorem bounds it for the count 1.
    """
    is_met = meeting(target)

    @functools.cache
    def fits(count: int, effort: Effort) -> bool:
        """Decide whether a count meets the target; a count that cannot be certified does not."""
        try:
            return is_met(counted(count, effort).curve)
        except BeyondBudget:
            return False

    start = int(min(max(guess, 1.0), most))
    rough = _estimate_largest(functools.partial(fits, effort="coarse"), start, most)
    best = _refine_largest(functools.partial(fits, effort="default"), rough, most)
    if best == 0:
        guarantee_at_one = counted(1, "default")
        require_figure(guarantee_at_one, target)
        raise _no_count_suffices(guarantee_at_one, target, name)
    is_proved = best < most and _provably_misses(counted, target, best + 1)
    return Certified(best, counted(best, "default"), 0.0 if is_proved else None)


def _no_count_suffices(guarantee: Guarantee, target: Target, name: str) -> Infeasible:
    """Return the error for a run that misses its privacy target even if the searched count is 1.

    Args:
        guarantee: the guarantee of the run with a count of 1.
        target: the target (ε, δ).
        name: name of the count in the message, such as `rounds`.

    Returns:
        The error, with the failed condition and the point of the guarantee that is nearest to the target.
    """
    log10_delta = guarantee.curve.upper_log_delta(target.epsilon) / LOG_10
    statement = "log10 δ of a count of one is at most the target"
    condition = ConditionResult("target", statement, Verdict.NO, log10_delta, target.log10_delta)
    return Infeasible(f"even {name} = 1 misses the target", condition, nearest_of(guarantee, target))


def _estimate_largest(meets: Callable[[int], bool], start: int, most: int) -> int:
    """Find the largest count that meets the target, when the initial estimate may be far off.

    The search doubles or halves the estimate until two counts enclose the result, and then bisects.

    Args:
        meets: whether a count meets the target; no larger count does after one that does not.
        start: initial estimate, from 1 to `most`.
        most: the largest count.

    Returns:
        The count, from 0 to `most`; 0 if none meets the target.
    """
    if meets(start):
        low, high = start, start + 1
    else:
        low, high = start - 1, start
    while low > 0 and not meets(low):
        low, high = low // 2, low
    while high <= most and meets(high):
        low, high = high, 2 * high
    return bisect_integers(meets, low, min(high, most + 1))


def _refine_largest(meets: Callable[[int], bool], start: int, most: int) -> int:
    """Find the largest count that meets the target, when the initial estimate is close.

    The search moves away from the estimate, each step twice as long as the one before, until two counts enclose the
    result. Then it bisects.

    Args:
        meets: whether a count meets the target; no larger count does after one that does not.
        start: close estimate, from 0 to `most`.
        most: the largest count.

    Returns:
        The count, from 0 to `most`; 0 if none meets the target.
    """
    # Decrease the lower count until it meets the target.
    low = start
    step = 1
    while low > 0 and not meets(low):
        low = max(low - step, 0)
        step *= 2

    # Increase the upper count until it misses the target.
    high = max(start, low) + 1
    step = 1
    while high <= most and meets(high):
        step *= 2
        low = high
        high += step
    return bisect_integers(meets, low, min(high, most + 1))


def _provably_misses(counted: Family, target: Target, count: int) -> bool:
    """Return whether a count is proved to miss the target; False if the lower bound on δ is too costly to compute."""
    try:
        return provably_misses(counted(count, "default").curve, target)
    except BeyondBudget:
        return False


def largest_rate(rated: Family, target: Target, *, guess: float) -> Certified:
    """Return the largest sampling rate for which the certified upper bound on δ meets the target, within 1e-4.

    The rate q is the probability with which a record is drawn in a round. δ rises with it. The search is for the least
    −log q, because searches of noise are written for a parameter that is safer when it is larger.

    Args:
        rated: function from a rate to its guarantee.
        target: the target (ε, δ) or risk.
        guess: initial estimate of the rate, in (0, 1].

    Returns:
        The rate, in the field `noise` of the record, with its guarantee. The field `slack` has the smallest relative
        increase, one of `SLACKS`, at which the rate provably misses the target. It is None without such a proof, and
        for the rate 1.

    Guarantees: the answer meets the target by evaluation.

    Raises:
        Infeasible: even the smallest rate offered misses the target.
        ConditionViolated: the target is a risk, and no theorem bounds it at any rate.
    """

    def guarantee_at(rarity: float) -> Guarantee:
        """Return the guarantee at a rate q, which is given by its rarity −log q."""
        return rated(math.exp(-rarity), "default")

    rarity = least_for_target(guarantee_at, target, -math.log(guess), RARITIES)
    if rarity is None:
        safest = rated(LEAST_RATE, "default")
        require_figure(safest, target)
        raise _no_rate_suffices(safest, target)
    # No rate above 1 exists that could miss the target.
    if rarity == RARITIES.least:
        return Certified(1.0, rated(1.0, "default"), None)
    rate = math.exp(-rarity)

    def misses(larger_rate: float) -> bool:
        """Decide whether a larger rate provably misses the target."""
        return provably_misses(rated(min(larger_rate, 1.0), "default").curve, target)

    proved_slacks = (slack for slack in SLACKS if misses(rate * (1.0 + slack)))
    return Certified(rate, rated(rate, "default"), next(proved_slacks, None))


def _no_rate_suffices(safest: Guarantee, target: Target) -> Infeasible:
    """Return the error for a run that misses its privacy target even at the smallest sampling rate of the search.

    Args:
        safest: the guarantee at the smallest rate.
        target: the target (ε, δ) or risk.

    Returns:
        The error, with the nearest target that this guarantee meets.
    """
    statement = "the rate that is needed is offered"
    condition = ConditionResult("rate-offered", statement, Verdict.NO, 0.0, LEAST_RATE)
    message = "even the smallest rate that is offered misses the target"
    return Infeasible(message, condition, nearest_of(safest, target))
