"""Finite bounds, in the convex order, of the likelihood ratio X = dP/dQ of any pair, from its profiles.

Let the call be C(κ) = E_κ(P‖Q) = E(X − κ)₊ + P(X = ∞) and the put p(κ) = E(κ − X)₊ = κ E_{1/κ}(Q‖P). Then
C(κ) = 1 − κ + p(κ).

*Above.* Upper bounds on C are known at finitely many κ ≥ 1 from the forward profile, and at κ < 1 from p, the backward
one. C is convex. The lower convex hull of these points is therefore at least C, also between and beyond them. It is
the call of a finite ratio. The masses of this ratio are the changes of the slope. They are computed with whole numbers,
without rounding. A ratio with a larger call is larger in the convex order
(docs/random-allocation.md, Any mechanism).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.losses import LOSS_UNITS, choose_losses, earlier_losses, pure_loss
from epsilond.accountants.profiles.allocation.ratios import FiniteRatio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile

_SCALE = 2200
"""Binary digits after the point of the whole numbers: products of two doubles are multiples of 2^−2148."""
_ONE = 1 << _SCALE
"""The number 1 as such a whole number."""
_LEAST_WEIGHT = 1e-300
"""Least weight of a value. Less goes to zero and infinity, with the mean unchanged."""
_LEAST_DELTA = 1e-300
"""Positive bounds on δ are rounded up to it."""
_MARGIN = 64 * UNIT_ROUNDOFF
"""Relative margin of the few operations on a weight or a bound."""


class BoundedPoint(NamedTuple):
    """An upper bound on δ at one ε.

    Attributes:
        loss: ε ≥ 0, in nats.
        delta: the bound. 0 means that δ is exactly zero from this ε on.
    """

    loss: float
    delta: float


def ratio_above(pair: Pair, cells: int) -> FiniteRatio:
    """Return a likelihood ratio with finitely many values that is above that of a pair in the convex order.

    Its expectations of nonnegative convex functions are at least those of the pair. So it gives upper bounds on δ.

    Args:
        pair: dominating pair of a mechanism. Its profiles are upper bounds, one for each direction.
        cells: approximate number of values of the ratio.

    Returns:
        Values of dP/dQ with their masses under Q, above the true ratio.
    """
    calls = _bounded_points(pair.forward, pure_loss(pair.forward, pair), cells // 2)
    puts = calls if pair.symmetric else _bounded_points(pair.backward, pure_loss(pair.backward, pair), cells // 2)
    return ratio_of_bounds(calls, puts)


def ratio_of_bounds(calls: Sequence[BoundedPoint], puts: Sequence[BoundedPoint]) -> FiniteRatio:
    """Return a finite likelihood ratio with a δ of at least given bounds in both directions.

    δ at κ = e^ε is a convex function of κ, so that it is at most the lower convex hull of the bounds.

    Args:
        calls: upper bounds on δ of P against Q at ε = log κ, for doubles κ ≥ 1, in increasing order.
        puts: upper bounds on δ of Q against P at ε = −log κ, for doubles κ ≤ 1, in increasing order of ε.

    Returns:
        Values of dP/dQ with their masses under Q, above the true ratio in the convex order.
    """
    # Points (κ, δ) as integers, beginning with δ = 1 at κ = 0.
    points = [(0, _ONE)]
    for loss, delta in reversed(puts):
        place = _whole(math.exp(-loss) * (1.0 - _outward_move(loss, delta)))
        # κ δ, rounded up, and with it E(1 − κ)₊ of the call at κ.
        put = place * _whole(delta) >> _SCALE
        points.append((place, _ONE - place + put + (1 if put else 0)))
    for loss, delta in calls:
        place = _whole(math.exp(loss) * (1.0 + _outward_move(loss, delta)))
        points.append((place, _whole(delta)))
    return _ratio_of_hull(_convex_hull(points))


def _outward_move(loss: float, delta: float) -> float:
    """Return the relative move of a place at which δ is 0, so that its loss is at least the largest one.

    Args:
        loss: ε of the place, in nats.
        delta: bound on δ there. A positive bound needs no move.
    """
    return LOSS_UNITS * (1.0 + loss) * UNIT_ROUNDOFF if delta == 0.0 else 0.0


def _bounded_points(profile: Profile, end: float, cells: int) -> list[BoundedPoint]:
    """Return upper bounds on δ at chosen values of ε, with the rounding of e^{±ε} included.

    The logarithm of the double nearest to e^{±ε} differs from ε by at most a few units of 1 + ε. δ decreases, so that
    its bound is taken at a smaller loss.

    Args:
        profile: the privacy profile of one direction.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.
        cells: approximate number of losses.

    Returns:
        The losses in increasing order, each with its bound.
    """
    losses = choose_losses(profile, end, cells)
    log_deltas = profile.log_delta(earlier_losses(losses)).upper
    # Rounded up, to a positive number where δ may be positive.
    deltas = np.exp(np.minimum(log_deltas + _MARGIN, 0.0))
    deltas = np.where(losses >= end, 0.0, np.maximum(deltas, _LEAST_DELTA))
    return list(map(BoundedPoint, losses.tolist(), deltas.tolist()))


def _whole(value: float) -> int:
    """Return a nonnegative double times 2^2200, a whole number."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << _SCALE) // denominator


Point = tuple[int, int]


def _convex_hull(points: list[Point]) -> list[Point]:
    """Return the greatest convex function that does not increase and is nowhere above given points.

    It is the lower convex hull of the points up to the lowest one, and constant from there on. Coordinates are
    integers, so that comparisons of slopes are exact.

    Args:
        points: places in increasing order, with values.

    Returns:
        The vertices of the hull, in the order of increasing places.
    """
    lowest = min(range(len(points)), key=lambda index: (points[index][1], index))
    hull: list[Point] = []
    for x, value in points[: lowest + 1]:
        y = value
        # Of two points at the same place, only the lower one counts.
        if hull and hull[-1][0] == x:
            _, y_before = hull.pop()
            y = min(value, y_before)
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            # Keep the last vertex only if the slope increases there.
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _ratio_of_hull(hull: list[Point]) -> FiniteRatio:
    """Return the likelihood ratio that belongs to a convex, piecewise linear profile.

    The profile is E(X − κ)₊ + P(X = ∞) as a function of κ, for the ratio X. The mass of X at a vertex is the change of
    the slope there, rounded up. A tiny mass is moved to zero and infinity, which keeps an upper bound.

    Args:
        hull: κ from 0 on, with the values of the function, both times 2^2200.

    Returns:
        The values of X with their masses, above the true ratio in the convex order.
    """
    # Slopes as exact fractions, from −1 at the start to 0 after the last vertex.
    slopes = [(-1, 1)]
    slopes += [(y1 - y0, x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(hull)]
    slopes.append((0, 1))

    # The change of the slope at each vertex.
    places = np.asarray([x / _ONE for x, _ in hull])
    changes = []
    for (rise_before, width_before), (rise, width) in itertools.pairwise(slopes):
        changes.append((rise * width_before - rise_before * width) / (width * width_before))
    weights = np.asarray(changes)

    # Move tiny masses to zero and infinity.
    is_tiny = weights < _LEAST_WEIGHT
    _, last_value = hull[-1]
    infinite = last_value / _ONE + float(places[is_tiny].sum()) * _LEAST_WEIGHT
    weights = np.where(is_tiny, 0.0, weights)
    weights[0] = weights[0] + is_tiny.sum() * _LEAST_WEIGHT
    return FiniteRatio(
        places=places,
        # Rounded up by more than the error of the quotients.
        weights=weights * (1.0 + _MARGIN),
        log_infinite=math.log(infinite) + _MARGIN if infinite else -math.inf,
        weight_error=4 * UNIT_ROUNDOFF,
        place_error=4 * UNIT_ROUNDOFF,
        side="above",
    )
