"""Search for the ε at which a decreasing function of ε, such as a bound on δ, reaches a target."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

from epsilond.accountants.engine.low_noise.region import REGION

if TYPE_CHECKING:
    from collections.abc import Callable


class _ExcessAt(NamedTuple):
    """A point of a search for the ε at which a decreasing function of ε, such as δ, reaches a target.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        excess: log of the function at ε over the target. It is above 0 exactly where the target is exceeded.
    """

    epsilon: float
    excess: float


def first_at_most(delta: Callable[[float], float], target: float, near: float = 0.0) -> tuple[float, float] | None:
    """Search the smallest ε ≥ 0 at which a decreasing function of ε is at most a target.

    A bracket of the crossing is found first, by ε that grow by factors of four. It is then shrunk (`_close_bracket`).

    Args:
        delta: the function, such as a bound on δ(ε).
        target: the target, above 0.
        near: an ε that is likely to be close to the result and not below it; 0 if none is known.

    Returns:
        Two close ε: the function exceeds the target at the first one, unless it is 0, and not at the second one. None
        if no ε up to 1e12 was found.
    """

    def excess(epsilon: float) -> float:
        """Return the logarithm of the function over the target, with the exact sign of their difference."""
        value = delta(epsilon)
        log_ratio = math.log(max(value, sys.float_info.min) / target)
        return max(log_ratio, sys.float_info.min) if value > target else min(log_ratio, 0.0)

    def excess_at(epsilon: float) -> _ExcessAt:
        """Return an ε with its excess."""
        return _ExcessAt(epsilon, excess(epsilon))

    # The lower end of the bracket: 0, or an ε just below the expected one.
    low = excess_at(0.0)
    if low.excess <= 0.0:
        return 0.0, 0.0
    if near > 0.0:
        start = excess_at((1.0 - REGION.close) * near)
        low = start if start.excess > 0.0 else low

    # The upper end: the expected ε, or 1, times a power of four.
    high = excess_at(near or 1.0)
    while high.excess > 0.0:
        low, high = high, excess_at(4.0 * high.epsilon)
        if high.epsilon > 1e12:  # no crossing within any useful ε
            return None
    return _close_bracket(excess, low, high)


def _close_bracket(excess: Callable[[float], float], low: _ExcessAt, high: _ExcessAt) -> tuple[float, float]:
    """Shrink a bracket of a root to a relative width of 1e-13, by the Illinois variant of the false position.

    The next point is where the chord between the two ends is 0. If two successive points are on one side of the root,
    the weight of the opposite end is halved. The bracket is halved instead while the function differs much between its
    ends, and in every other step after the first 16, so that the search ends for any function.

    Args:
        excess: the function, above 0 at the lower point and at most 0 at the upper one.
        low: the lower point.
        high: the upper point.

    Returns:
        The ends of the bracket, two values of ε.
    """
    low_weight, high_weight = low.excess, high.excess
    step, was_below_root = 0, False
    while high.epsilon - low.epsilon > 1e-13 * high.epsilon:
        step += 1
        width = high.epsilon - low.epsilon

        # The next point, as a share of the bracket. It is not too close to either end.
        changes_much = low_weight - high_weight > REGION.steep
        bisects = changes_much or (step > 16 and step % 2 == 1)
        share = 0.5 if bisects else low_weight / (low_weight - high_weight)
        # The least distance from an end, 4e-14 ε, is less than half of the final width.
        least_share = min(4e-14 * high.epsilon / width, 0.5)
        epsilon = low.epsilon + min(max(share, least_share), 1.0 - least_share) * width
        if not low.epsilon < epsilon < high.epsilon:
            break

        # Replace the end on the same side of the root.
        point = _ExcessAt(epsilon, excess(epsilon))
        is_below_root = point.excess > 0.0
        is_on_same_side_again = step > 1 and is_below_root == was_below_root
        weight_factor = 0.5 if is_on_same_side_again else 1.0  # of the opposite end
        if is_below_root:
            low, low_weight = point, point.excess
            high_weight = high_weight * weight_factor
        else:
            high, high_weight = point, point.excess
            low_weight = low_weight * weight_factor
        was_below_root = is_below_root
    return low.epsilon, high.epsilon
