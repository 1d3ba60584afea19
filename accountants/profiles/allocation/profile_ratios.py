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
_ONE = 2**_SCALE
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

    "Above" means that its expectations of convex functions are at least as large. So it gives upper bounds on δ.

    Args:
        pair: dominating pair of a mechanism. Its profiles are upper bounds, one for each direction.
        cells: approximate number of values of the ratio.

    Returns:
        Values of the ratio dP/dQ, with their masses under Q.
    """
    points = cells // 2  # half of the values are above 1, and half below
    forward = _bounded_points(pair.forward, pure_loss(pair.forward, pair), points)
    backward = forward if pair.symmetric else _bounded_points(pair.backward, pure_loss(pair.backward, pair), points)
    return ratio_of_bounds(forward, backward)


def ratio_of_bounds(forward_points: Sequence[BoundedPoint], backward_points: Sequence[BoundedPoint]) -> FiniteRatio:
    """Return a likelihood ratio X = dP/dQ with finitely many values, from upper bounds on δ in both directions.

    δ of P against Q at ε = log κ is C(κ) = E(X − κ)₊ + P(X = ∞), a convex function of κ. So it is at most the lower
    convex hull of its bounds, which is the C of the returned ratio. For κ < 1, bounds on C follow from δ′, the δ of Q
    against P at ε = −log κ, by C(κ) = 1 − κ + κ δ′.

    Args:
        forward_points: upper bounds on δ of P against Q at ε = log κ, for doubles κ ≥ 1, in increasing order.
        backward_points: upper bounds on δ of Q against P at ε = −log κ, for doubles κ ≤ 1, in increasing order of ε.

    Returns:
        Values of the ratio with their masses under Q, above the true ratio in the convex order.
    """
    # Points (κ, C) as integers, beginning with C = 1 at κ = 0.
    points = [(0, _ONE)]
    for loss, delta in reversed(backward_points):
        kappa = _scaled_integer(math.exp(-loss) * (1.0 - _zero_margin(loss, delta)))
        product = kappa * _scaled_integer(delta) >> _SCALE  # κ δ′, rounded down
        rounded_up = product + 1 if product else 0
        points.append((kappa, _ONE - kappa + rounded_up))
    for loss, delta in forward_points:
        kappa = _scaled_integer(math.exp(loss) * (1.0 + _zero_margin(loss, delta)))
        points.append((kappa, _scaled_integer(delta)))
    return _ratio_of_hull(_convex_hull(points))


def _zero_margin(loss: float, delta: float) -> float:
    """Return by how much to move κ = e^{±ε} away from 1, relatively, so that a bound of 0 on δ holds there.

    Args:
        loss: ε, in nats, which may have a rounding error of `LOSS_UNITS` units of 1 + ε.
        delta: bound on δ at this ε. A positive bound already includes its errors, so that the result is 0.
    """
    if delta != 0.0:
        return 0.0
    return LOSS_UNITS * (1.0 + loss) * UNIT_ROUNDOFF


def _bounded_points(profile: Profile, end: float, cells: int) -> list[BoundedPoint]:
    """Return upper bounds on δ at chosen values of ε, which are valid in spite of the rounding of e^{±ε}.

    The logarithm of the double nearest to e^{±ε} differs from ε by at most a few units of roundoff times 1 + ε. As δ
    decreases in ε, its bound is taken at a slightly smaller ε.

    Args:
        profile: the privacy profile of one direction.
        end: an ε from which on δ is 0, in nats; math.inf if none is known.
        cells: approximate number of points.

    Returns:
        The points in increasing order of ε.
    """
    losses = choose_losses(profile, end, cells)
    log_deltas = profile.log_delta(earlier_losses(losses)).upper
    # Rounded up. Where δ may be positive, the bound must be positive, too.
    deltas = np.exp(np.minimum(log_deltas + _MARGIN, 0.0))
    deltas = np.where(losses >= end, 0.0, np.maximum(deltas, _LEAST_DELTA))
    return list(map(BoundedPoint, losses.tolist(), deltas.tolist()))


def _scaled_integer(value: float) -> int:
    """Return a nonnegative double times 2^2200, which is an integer for every double."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << _SCALE) // denominator


Point = tuple[int, int]


def _convex_hull(points: list[Point]) -> list[Point]:
    """Return the greatest convex function that does not increase and is nowhere above given points.

    It is the lower convex hull of the points up to the lowest one, and constant from there on. Coordinates are
    integers, so that comparisons of slopes are exact.

    Args:
        points: pairs (x, y) in increasing order of x.

    Returns:
        The vertices of the hull, in increasing order of x.
    """
    lowest = min(range(len(points)), key=lambda index: (points[index][1], index))
    hull: list[Point] = []
    for x, value in points[: lowest + 1]:
        y = value
        # Of two points with the same x, only the lower one counts.
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
    """Return the likelihood ratio X for which E(X − κ)₊ + P(X = ∞) is a given convex, piecewise linear function of κ.

    The mass of X at a vertex is the change of the slope there, rounded up. Masses below `_LEAST_WEIGHT` are left out.
    Instead, this weight is added at 0, and a mass at infinity with at least the same mean. This is an upper bound,
    because the expectations of all convex functions of X become larger.

    Args:
        hull: the vertices: κ from 0 on, with the values of the function, as integers in units of 2^−2200.

    Returns:
        The values of X with their masses, above the true ratio in the convex order.
    """
    # Slopes as exact fractions, from −1 at the start to 0 after the last vertex.
    slopes = [(-1, 1)]
    slopes += [(y1 - y0, x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(hull)]
    slopes.append((0, 1))

    # Quotients of integers are rounded once.
    places = np.asarray([x / _ONE for x, _ in hull])
    changes = []
    for (rise_before, width_before), (rise, width) in itertools.pairwise(slopes):
        changes.append((rise * width_before - rise_before * width) / (width * width_before))
    weights = np.asarray(changes)

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
