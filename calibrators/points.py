"""Points of a privacy curve, as accounts serve them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.target import natural_log_delta
from epsilond.calibrators.answer import Ends


@dataclass(frozen=True, kw_only=True)
class Point:
    """ε and δ at one requested point. Both bounds on the requested quantity are its value."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends


def point(guarantee: Guarantee, name: str, value: float) -> Point:
    """Evaluate a privacy curve at one point: bound δ at a given ε, or ε at a given δ.

    Args:
        guarantee: the guarantee with the curve.
        name: the given quantity: `epsilon`, `delta` or `log10_delta`.
        value: its value.

    Returns:
        The point of the curve, in which both bounds on the given quantity are its value.
    """
    if name == "epsilon":
        bounds = guarantee.curve.log_delta(value)
        return Point(epsilon=Ends(value, value), delta=Ends.delta(bounds), log10_delta=Ends.log10(bounds))

    # A δ is given in one of two forms. The answer has it in both.
    if name == "delta":
        log_delta = natural_log_delta(value, None)
        log10_delta = math.log10(value)
        delta = Ends(value, value)
    else:
        log_delta = natural_log_delta(None, value)
        log10_delta = value
        delta = Ends.delta(Interval(log_delta, log_delta))
    epsilon = Ends.of(guarantee.curve.epsilon(log_delta))
    return Point(epsilon=epsilon, delta=delta, log10_delta=Ends(log10_delta, log10_delta))
