"""δ of one direction of the neighbours, at an ε of any sign.

With P the outputs with the contribution and Q those without it, δ is E_γ(P‖Q) or E_γ(Q‖P) for γ = e^ε. For ε < 0,
E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P). Both terms are positive, so that no digits are lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from epsilond.accountants.curve.divergences import divergence_at
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile

Direction: TypeAlias = Literal["with-against-without", "without-against-with"]
"""The first distribution has the contribution, or the second one has it. For replace-one both are equal."""


class DirectedDelta(NamedTuple):
    """Bounds on δ of one direction of two neighbours at an ε of any sign.

    Attributes:
        delta: bounds on δ if ε < 0; None if ε ≥ 0, where the logarithm is more accurate.
        log_delta: bounds on log δ, natural logarithm.
    """

    delta: Interval | None
    log_delta: Interval


def directed_delta(curve: Curve, epsilon: float, direction: Direction) -> DirectedDelta:
    """Return bounds on δ(ε), the hockey-stick divergence at e^ε, of one direction of the neighbours.

    For ε < 0 it follows from the other direction. With γ = e^ε and the hockey-stick divergence E:

        E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P).

    Args:
        curve: the privacy curve of the mechanism.
        epsilon: ε of any sign, in nats.
        direction: whether the first distribution has the contribution.

    Returns:
        Bounds on log δ, and, for ε < 0, on δ itself.

    Guarantees: the bounds enclose the largest δ over all neighbours in this direction.
    """
    if epsilon >= 0.0:
        return DirectedDelta(None, _log_delta(curve, abs(epsilon), direction))
    log_delta = _log_delta(curve, -epsilon, _other_direction(direction))
    delta = divergence_at(epsilon, log_delta, is_reversed=True)
    lower = math.nextafter(delta.lower, 0.0)
    upper = min(math.nextafter(delta.upper, 1.0), 1.0)
    log_bounds = Interval(_rounded_log(lower, sign=-1.0), min(_rounded_log(upper, sign=1.0), 0.0))
    return DirectedDelta(Interval(lower, upper), log_bounds)


def _log_delta(curve: Curve, epsilon: float, direction: Direction) -> Interval:
    """Return bounds on log δ(ε) of one direction of the neighbours.

    The upper bound is that of the dominating pair of distributions. The lower bound is the largest one of the
    witnesses, that is, pairs that the mechanism attains for some neighbours. If the curve is tight, the dominating pair
    is attained too.

    Args:
        curve: the privacy curve, with the dominating pair and the witnesses.
        epsilon: ε ≥ 0, in nats.
        direction: whether the first distribution has the contribution.

    Returns:
        Lower and upper bound on log δ.
    """
    dominating = _profile(curve.upper, direction)
    if curve.tight:
        lower, upper = dominating.log_delta_bounds(epsilon)
    else:
        lower, upper = -math.inf, dominating.upper_log_delta(epsilon)
    for witness in curve.witnesses:
        if witness is not curve.upper:
            lower = max(lower, _profile(witness, direction).lower_log_delta(epsilon))
    return Interval(min(lower, upper), upper)


def _profile(pair: Pair, direction: Direction) -> Profile:
    """Return the profile of a pair in one direction."""
    return pair.forward if direction == "with-against-without" else pair.backward


def _other_direction(direction: Direction) -> Direction:
    """Return the other direction."""
    return "without-against-with" if direction == "with-against-without" else "with-against-without"


def _rounded_log(probability: float, *, sign: float) -> float:
    """Return the natural logarithm of a probability, rounded up or down.

    Args:
        probability: the probability.
        sign: 1 to round up, −1 to round down.

    Returns:
        The logarithm; −inf if the probability is not positive.
    """
    if probability <= 0.0:
        return -math.inf
    logarithm = math.log(probability)
    # Two units of roundoff, relative, cover the error of the logarithm.
    return logarithm + sign * 2.0 * UNIT_ROUNDOFF * abs(logarithm)
