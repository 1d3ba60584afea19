"""The pair of a privacy profile that is known at finitely many points.

Let H(γ) = E_γ(P‖Q) at γ > 0. It is convex and decreasing, H(0) = 1, and H(γ) = 1 − γ + γ E_{1/γ}(Q‖P). Let D_i ≥ H(γ_i)
be upper bounds from both directions. Let D be the greatest convex function below the points (0, 1) and (γ_i, D_i),
constant after the last one. Then H ≤ D. D starts with a slope of at least −1 and is never below (1 − γ)₊. So it is
itself the profile of a pair with finitely many losses. Vertex γ_i has the loss log γ_i. Its masses are:

    q_i = s_{i−1} − s_i under Q, and p_i = γ_i q_i under P,

where s_i is the slope −D′ to the right of vertex i. The loss ∞ has the mass D_n of the last vertex, and the loss −∞ has
the mass 1 − s_0. This pair dominates every mechanism with these bounds, and is one of them. ∎

The vertices are computed in decimal arithmetic of `DIGITS` digits. A vertex that is almost on the line of its
neighbours is left out, which raises D.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.atoms import AtomicProfile

DIGITS = 60
"""Digits of the decimal arithmetic. Slopes lose at most half of them to cancellation."""
_MARGIN = Decimal(10) ** -50
"""Relative amount by which values are raised: far above the rounding of decimals, and far below that of doubles."""
_LEAST_TURN = Decimal(10) ** -20
"""Least relative change of the slope at a vertex; a vertex with a smaller change is left out."""
_ACCURACY = 8 * UNIT_ROUNDOFF
"""Bound on the error of each log probability, per unit of 1 + |log probability|."""


class ProfilePoint(NamedTuple):
    """Upper bound on δ at one ε: a point of a privacy profile that is known at some points only.

    Attributes:
        epsilon: ε ≥ 0, in nats.
        log_delta: upper bound on log δ(ε), natural logarithm, at most 0.
    """

    epsilon: float
    log_delta: float


class _Vertex(NamedTuple):
    """Vertex of a privacy profile that is convex and piecewise linear in γ = e^ε.

    Attributes:
        loss: ε = log γ in nats, the privacy loss at this vertex.
        gamma: γ ≥ 0, as a decimal number.
        delta: δ at this ε, as a decimal number.
    """

    loss: float
    gamma: Decimal
    delta: Decimal


def points_pair(forward: Sequence[ProfilePoint], backward: Sequence[ProfilePoint] | None = None) -> Pair:
    """Return the least pair that dominates every mechanism with given upper bounds on δ at some ε.

    Its privacy profile is the greatest convex function of e^ε below the points of both directions, up to rounding.

    Args:
        forward: bounds on the hockey-stick divergence of P against Q, at least one.
        backward: bounds on that of Q against P; None if the bounds of `forward` hold in both directions.

    Returns:
        The pair of distributions, which have finitely many outcomes.
    """
    backward_points = forward if backward is None else backward
    with localcontext(Context(prec=DIGITS, Emin=-(10**17), Emax=10**17)):
        vertices = [*_forward_vertices(forward), *_backward_vertices(backward_points)]
        law = _finite_law(_hull(vertices))
    first = _profile_of(law)
    if backward is None:
        return Pair(first, first, atoms=law)
    return Pair(first, _profile_of(law.reverse()), atoms=law)


def _forward_vertices(points: Iterable[ProfilePoint]) -> Iterable[_Vertex]:
    """Yield upper bounds on δ of P against Q as points at γ = e^ε."""
    for epsilon, log_delta in points:
        yield _Vertex(epsilon, Decimal(epsilon).exp(), _raised_exp(log_delta))


def _backward_vertices(points: Iterable[ProfilePoint]) -> Iterable[_Vertex]:
    """Yield bounds on δ of Q against P as bounds on δ of P against Q.

    For the hockey-stick divergence E_γ at γ = e^ε, the conversion is:

        E_{1/γ}(P‖Q) = 1 − 1/γ + E_γ(Q‖P)/γ.

    Args:
        points: upper bounds on log δ at several ε, for Q against P.

    Yields:
        For each point a bound at e^−ε, rounded up, at most 1.
    """
    for epsilon, log_delta in points:
        gamma = Decimal(-epsilon).exp()
        value = (1 - gamma + gamma * _raised_exp(log_delta)) * (1 + _MARGIN)
        yield _Vertex(-epsilon, gamma, min(value, Decimal(1)))


def _raised_exp(log_value: float) -> Decimal:
    """Return e^log_value, raised by the relative `_MARGIN`, but at most 1; 0 for −∞."""
    if log_value == -math.inf:
        return Decimal(0)
    return min(Decimal(log_value).exp() * (1 + _MARGIN), Decimal(1))


def _hull(points: Iterable[_Vertex]) -> list[_Vertex]:
    """Return the vertices of the greatest convex decreasing function of γ = e^ε below given points and (0, 1).

    Points are added by increasing γ. Vertices above the line from the vertex before them to the new point are removed.

    Args:
        points: points (γ, δ) with γ > 0, in any order.

    Returns:
        The vertices by increasing γ, without (0, 1). If no point is below 1, a single vertex with δ = 1.
    """
    origin = _Vertex(-math.inf, Decimal(0), Decimal(1))
    hull = [origin]
    for point in sorted(points, key=lambda vertex: (vertex.gamma, vertex.delta)):
        # The function decreases, so a point that is not below the last vertex does not lower it.
        if point.delta >= hull[-1].delta:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull[1:] or [_Vertex(0.0, Decimal(1), Decimal(1))]


def _slope(left: _Vertex, right: _Vertex) -> Decimal:
    """Return the descent, per unit of γ, of the line through two vertices."""
    return (left.delta - right.delta) / (right.gamma - left.gamma)


def _finite_law(vertices: Sequence[_Vertex]) -> FiniteLaw:
    """Return the pair of distributions P and Q with a given privacy profile, convex and piecewise linear in γ = e^ε.

    Let s_i be the descent of the profile to the right of vertex i, and s_0 that before the first vertex. The privacy
    loss log γ_i has the probability:

        q_i = s_{i−1} − s_i under Q, and p_i = γ_i q_i under P.

    The loss ∞ has the last value of the profile as its probability under P. The loss −∞ has the probability 1 − s_0
    under Q.

    Args:
        vertices: the vertices of the profile by increasing γ > 0.

    Returns:
        The losses with their log probabilities under both distributions.
    """
    origin = _Vertex(-math.inf, Decimal(0), Decimal(1))
    first_slope = slope = _slope(origin, vertices[0])
    losses: list[float] = []
    log_first: list[float] = []
    log_second: list[float] = []
    for index, vertex in enumerate(vertices):
        is_last = index + 1 == len(vertices)
        next_slope = Decimal(0) if is_last else _slope(vertex, vertices[index + 1])
        turn = slope - next_slope
        # The probability at a vertex where the slope hardly changes would lose digits. It is added to that of the next
        # vertex, a larger loss, which raises the profile.
        if turn > _LEAST_TURN * slope:
            losses.append(vertex.loss)
            log_first.append(_log(vertex.gamma * turn))
            log_second.append(_log(turn))
            slope = next_slope

    log_infinite, log_missing = _log(vertices[-1].delta), _log(1 - first_slope)
    return FiniteLaw(tuple(losses), tuple(log_first), tuple(log_second), log_infinite, log_missing, accuracy=_ACCURACY)


def _log(value: Decimal) -> float:
    """Return the natural logarithm of a number, rounded to a double; −∞ if the number is not positive."""
    return float(value.ln()) if value > 0 else -math.inf


def _profile_of(law: FiniteLaw) -> AtomicProfile:
    """Return the privacy profile ε ↦ δ(ε) of one direction of a pair of distributions with finitely many outcomes.

    Args:
        law: the privacy losses, with their probabilities under the first distribution.

    Returns:
        The profile, with its losses in increasing order and the probability of the infinite loss rounded up.
    """
    order = sorted(range(len(law.losses)), key=law.losses.__getitem__)
    losses = tuple(law.losses[index] for index in order)
    masses = tuple(law.log_first[index] for index in order)
    log_infinite = law.log_infinite
    if log_infinite > -math.inf:
        log_infinite = min(log_infinite + _ACCURACY * (1.0 + abs(log_infinite)), 0.0)
    return AtomicProfile(losses, masses, log_infinite, law.accuracy)
