"""ε of a curve at the δ of a target whose ε is nearly right, with few evaluations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.target import Target

SPARE = 1e-6
"""Share of log δ by which a target may be exceeded and ε still be the target's: both are known no better."""
FLAT = 1e-3
"""Share of ε that must tell where the target's ε is given without a search."""


def known_epsilon(curve: Curve, target: Target) -> Interval:
    """`Curve.epsilon` at the target δ, with few evaluations: searches without a start of their own begin at the target.

    Guarantees: both ends have been evaluated, and each lies on its side of the truth.
    """
    if curve.tight:
        lower, upper = curve.upper.epsilon(target.log_delta, target.epsilon)
    else:  # nobody reads the lower bound of a bound that no neighbours attain
        lower, upper = 0.0, _upper_epsilon_of(curve.upper, target)
    if upper > 0.0:
        lower = max(lower, _realised_epsilon([pair for pair in curve.witnesses if pair is not curve.upper], target))
    return Interval(min(lower, upper), upper)


def _realised_epsilon(witnesses: Iterable[Pair], target: Target) -> float:
    """The largest lower bound of the witnesses; one that is likely to attain no more than one before is not searched.

    It is taken to attain no more where its log δ at the target ε falls short of the target twice as far as that of the
    one before. A witness that is left out may cost some of the lower bound, never its truth.
    """
    found, attained = 0.0, -math.inf
    for pair in witnesses:
        if found > 0.0 and _falls_short(pair, target, attained, found):
            continue
        found = max(found, pair.lower_epsilon(target.log_delta, target.epsilon))
        attained = max(attained, pair.lower_log_delta(target.epsilon))
    return found


def _falls_short(pair: Pair, target: Target, attained: float, found: float) -> bool:
    """Whether a witness is seen to attain no more than one of the log δ and ε given, as above."""
    if pair.likely_meets(found, target.log_delta):
        return True
    least = target.log_delta - 2.0 * (target.log_delta - attained)
    return attained < target.log_delta and (
        pair.likely_meets(target.epsilon, least) or pair.lower_log_delta(target.epsilon) <= least
    )


def _upper_epsilon_of(pair: Pair, target: Target) -> float:
    """The upper bound alone: the target ε where that meets the target δ by next to nothing, as calibrated noise does.

    A little less must miss it: where δ hardly falls with ε, a much smaller ε may meet it too, and is searched.
    """
    near = target.log_delta * (1.0 + SPARE) <= pair.upper_log_delta(target.epsilon) <= target.log_delta
    if near and pair.upper_log_delta_next_to(target.epsilon * (1.0 - FLAT), target.epsilon) > target.log_delta:
        return target.epsilon
    return pair.upper_epsilon(target.log_delta, target.epsilon)
