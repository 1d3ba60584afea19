"""The smallest noise where every trial costs a second: few trials, certified once, minimal to within a thousandth."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilond.accountants.errors import Infeasible
from epsilond.accountants.theorem import ConditionResult
from epsilond.accountants.theorems.composition.least_of import alternatives_of
from epsilond.calibrators.search import DEEP, LEAST, MOST, Certified

if TYPE_CHECKING:
    from collections.abc import Callable

    from epsilond.calibrators.problem import Target
    from epsilond.calibrators.search import Family

WIDTH, AIM, NUDGE, SLACK = 6e-4, 4e-3, 2e-4, 1e-3
"""Of log noise; of log δ, below the target; of noise, where a coarse bound passes and the certified one does not."""
MOST_TRIALS = 40
FURTHEST = math.log(2.0)


def smallest_noise_in_few_trials(family: Family, target: Target, *, guess: float) -> Certified:
    """A certified noise, found on the coarse curve and re-evaluated on the certified one.

    The bound is a least over choices made by estimates, so that its curve is not smooth below about 1e-4 and polishing
    would not settle. Guarantees: the upper end of δ at the target ε is at most the target δ, by evaluation; `slack` is
    1e-3 if the bound's own lower end misses the target at a noise lower by that.

    Raises:
        Infeasible: even the largest noise offered misses the target.
    """
    best: list[int] = []

    @functools.cache
    def excess(log_noise: float) -> float:
        # Of several bounds that are composed, the one that is least at the first noise is followed.
        several = alternatives_of(family(math.exp(log_noise), "coarse").curve.upper)
        if not best:
            uppers = [pair.ends(target.epsilon).upper for pair in several]
            best.append(uppers.index(min(uppers)))
            return max(min(uppers), DEEP) - target.log_delta
        upper = several[min(best[0], len(several) - 1)].ends(target.epsilon).upper
        return max(upper, DEEP) - target.log_delta

    passing = _passing(excess, math.log(guess), steepness=2.0 * abs(target.log_delta))
    if passing <= math.log(LEAST):
        return Certified(LEAST, family(LEAST, "coarse"), None)
    noise = math.exp(passing)
    for _ in range(MOST_TRIALS):
        certified = family(noise, "default")
        if certified.curve.bound_log_delta(target.epsilon).upper <= target.log_delta:
            missed = family(noise * (1.0 - SLACK), "default").curve.bound_log_delta(target.epsilon).lower
            return Certified(noise, certified, SLACK if missed > target.log_delta else None)
        noise *= 1.0 + NUDGE
    return Certified(math.exp(passing), family(math.exp(passing), "coarse"), None)


def _passing(excess: Callable[[float], float], start: float, *, steepness: float) -> float:
    """A log noise that meets the target and is within `WIDTH` of one that does not: the secant rule, kept inside.

    Where noise alone decides, log δ falls by about 2|log δ| for each e-fold of noise: the first step assumes that.
    """
    low, high = math.log(LEAST), math.log(MOST)
    place, slope = min(max(start, low), high), -steepness
    failing, passing = -math.inf, math.inf
    last: tuple[float, float] | None = None
    for _ in range(MOST_TRIALS):
        value = excess(place)
        if value > 0 and place >= high:
            sides = ConditionResult(
                "noise-offered", "the noise multiplier that is needed is offered", False, math.inf, MOST
            )
            raise Infeasible("no noise that is offered meets the target", sides)
        failing, passing = (max(failing, place), passing) if value > 0 else (failing, min(passing, place))
        if passing <= low or -2.0 * AIM <= value <= 0 or passing - failing <= WIDTH:
            return passing
        if last is not None and last[0] != place:
            slope = min((value - last[1]) / (place - last[0]), -1.0)
        last = (place, value)
        step = min(max(-(value + AIM) / slope, -FURTHEST), FURTHEST)
        following = min(max(place + step, low), high)
        if not failing < following < passing and not math.isinf(passing - failing):
            following = 0.5 * (failing + passing)
        place = following
    return passing
