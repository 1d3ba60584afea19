"""The Rényi divergence of one step of Gaussian noise, by an integral of its hockey-stick divergences.

Write E(ε) = E_γ(P‖Q) and E'(ε) = E_γ(Q‖P) for γ = e^ε. Then:

    E_Q[(dP/dQ)^a] − 1 = a (a − 1) (∫₀^∞ e^{(a − 1) ε} E(ε) dε + ∫₀^∞ e^{−a ε} E'(ε) dε).

E is convex in γ. Between two points it is below their chord, and above the extended chord of the next two points. The
weights of both are known in closed form. Beyond the last point, the first integral is at most E_Q[r^a; L > ε_n] of the
Gaussian pair that dominates the step (docs/attackers.md).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.renyi_divergence import divergence_of_log_excess
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.attackers.far_losses import FarLosses
    from epsilond.accountants.numerics.special import FloatArray

_FEWEST = 256
"""Least number of steps of a piece."""
_MOST = 2_048
"""Largest number of steps of a piece; more would take longer than 100 ms for all pieces."""
_STEPS_PER_UNIT = 50.0
"""Number of steps for each unit of a ε, which leaves about 1e-4 of the divergence."""
_FEWEST_COSTLY = 8
"""Least number of steps of a piece for a profile that takes up to a millisecond for a point."""
_MOST_COSTLY = 384
"""Largest number of steps of all pieces for such a profile."""
_LONGEST_OF_NATS = 8.0
"""Longest step of such a profile in nats; the rounding of its weights grows with the exponential of a step."""
_PIECES = 14
"""Number of pieces, each twice as long as the previous one. The first has about the loss of a rare sampled step."""
_LONGEST_STEP = 100.0
"""Longest step in units of 1/a; the bounds of a longer one say less than the Gaussian bound."""
_REFINEMENTS = 6
"""Largest number of pieces that get more steps."""
_FINER = 8
"""Factor of the number of their steps."""
_WIDE = 1e-4
"""Relative width of the bounds below which no piece gets more steps."""


class _Weights(NamedTuple):
    """Weights of a quadrature rule for ∫ e^{px} f(x) dx over a step, which is exact if f is linear in e^x.

    Attributes:
        left: weight of the value at the left end.
        right: weight of the value at the right end.
        error: bound on the relative error of both weights.
    """

    left: float
    right: float
    error: float

    @classmethod
    def of(cls, power: float, step: float) -> _Weights:
        """Compute the weights for an exponent p and a step from 0 to h.

        They are linear combinations of ∫ e^{px} dx and ∫ e^{(p + 1)x} dx over the step, which nearly cancel for small
        h.

        Args:
            power: exponent p, not 0 and not −1.
            step: length h > 0 of the step.
        """
        area = math.expm1(power * step) / power  # ∫ e^{px} dx
        area_of_next_power = math.expm1((power + 1.0) * step) / (power + 1.0)
        right = (area_of_next_power - area) / math.expm1(step)
        left = area - right
        # The cancellation of the two areas, relative to the smaller weight.
        error = 64 * UNIT_ROUNDOFF * area * (1.0 + 1.0 / step) / min(left, right)
        return cls(left, right, error)


def integrated_renyi(forward: Profile, backward: Profile, *, far: FarLosses, order: float) -> Interval:
    """Return bounds on the Rényi divergence D_a(P‖Q) of one step from the privacy profiles of both directions.

    With the hockey-stick divergences E(ε) of (P, Q) and E'(ε) of (Q, P) at e^ε:

        D_a(P‖Q) = log(1 + I)/(a − 1),
        I = a (a − 1) (∫₀^∞ e^{(a − 1) ε} E(ε) dε + ∫₀^∞ e^{−a ε} E'(ε) dε).

    Args:
        forward: the privacy profile E of (P, Q).
        backward: the privacy profile E' of (Q, P).
        far: the ε at which the integrals end, and bounds on the contribution of larger losses.
        order: order a > 1.

    Returns:
        Lower and upper bounds, in nats.
    """
    last, most = far.end, far.most
    if _takes_too_many_steps(forward, backward, last, order):
        return Interval(0.0, most)

    # Both integrals end at `last`. The rest of the second one is at most E'(ε) e^{−a ε}/a at this ε.
    rising = _bound_total(forward, order - 1.0, last, order, far.cap)
    falling = _bound_total(backward, -order, last, order, far.cap)
    log_rest = backward.upper_log_delta(last) - order * last - math.log(order)
    log_factor = math.log(order) + math.log(order - 1.0)
    log_lower = log_factor + float(np.logaddexp(rising.lower, falling.lower))
    log_upper = log_factor + float(np.logaddexp(np.logaddexp(rising.upper, falling.upper), log_rest))
    log_upper = float(np.logaddexp(log_upper, far.log_tail))
    if log_upper == -math.inf:  # both distributions are the same
        return Interval(0.0, 0.0)

    # `slack` exceeds the rounding errors of the logarithms and exponents.
    slack = 64 * UNIT_ROUNDOFF * (8.0 + abs(log_upper) + order * last)
    lower = divergence_of_log_excess(log_lower - slack, order) if log_lower > -math.inf else 0.0
    upper = divergence_of_log_excess(log_upper + slack, order)
    return Interval(min(lower, upper, most), min(upper, most))


def _takes_too_many_steps(forward: Profile, backward: Profile, last: float, order: float) -> bool:
    """Return whether the integrals for a Rényi divergence up to an ε would take more steps than allowed.

    Args:
        forward: the privacy profile of (P, Q).
        backward: the privacy profile of (Q, P).
        last: the ε at which the integrals end, in nats.
        order: order a > 1 of the divergence.
    """
    fewest = order * last / _LONGEST_STEP
    if _is_costly(forward) or _is_costly(backward):
        return max(fewest, last / _LONGEST_OF_NATS) > _MOST_COSTLY
    return fewest > _MOST


@dataclass
class _Piece:
    """An interval of ε, with bounds on the logarithm of an integral over it.

    Attributes:
        start: lower end of the interval, in nats.
        end: upper end of the interval, in nats.
        count: number of steps with which the bounds were computed.
        bounds: bounds on the log of the integral over the interval.
    """

    start: float
    end: float
    count: int
    bounds: Interval

    def intersect(self, known: Interval) -> _Piece:
        """Return the piece with the intersection of its own bounds and other valid ones."""
        return replace(self, bounds=Interval(max(self.bounds.lower, known.lower), min(self.bounds.upper, known.upper)))


def _bound_total(
    profile: Profile, power: float, last: float, order: float, cap: Callable[[FloatArray], FloatArray] | None
) -> Interval:
    """Return bounds on the logarithm of ∫ e^{p ε} E(ε) dε from ε = 0 to about `last`, for a privacy profile E(ε).

    The range is divided into intervals (pieces) of growing length, each with some steps. The piece with the widest
    bounds gets more steps until the bounds on the total are close. If the profile is expensive, the piece is halved
    instead, up to a limit on the steps of all pieces.

    Args:
        profile: the privacy profile with log E.
        power: the exponent p.
        last: end of the integral, in nats. The last piece may end beyond it by less than a step.
        order: order a of the Rényi divergence, which decides the number of steps.
        cap: function that returns another upper bound on log E at each ε; None if there is none.

    Returns:
        Lower and upper bound on the natural logarithm.
    """
    ends = [0.0, *(last * 2.0 ** (piece - _PIECES) for piece in range(_PIECES + 1))]
    is_costly = _is_costly(profile)

    def _bound_piece(start: float, end: float, count: int) -> _Piece:
        """Return the piece from `start` to `end` (in nats), with bounds computed with `count` steps."""
        return _Piece(start, end, count, _bound_integral(profile, power, (start, end), count, cap))

    pieces = [
        _bound_piece(start, end, _first_count(end - start, order, is_costly)) for start, end in itertools.pairwise(ends)
    ]
    evaluated = sum(piece.count for piece in pieces)

    for _ in range(_MOST_COSTLY if is_costly else _REFINEMENTS):
        lower, upper = _sum_pieces(pieces)
        if not upper - lower > _WIDE * max(1.0, abs(upper)):
            break
        loosest = max(pieces, key=lambda piece: _width(piece.bounds, upper))
        evaluated += 2 * loosest.count
        is_too_much = evaluated > _MOST_COSTLY if is_costly else loosest.count > _MOST
        if is_too_much:
            break
        if is_costly:
            middle = 0.5 * (loosest.start + loosest.end)
            pieces.remove(loosest)
            pieces.append(_bound_piece(loosest.start, middle, loosest.count))
            pieces.append(_bound_piece(middle, loosest.end, loosest.count))
        else:
            finer = _bound_piece(loosest.start, loosest.end, _FINER * loosest.count)
            pieces[pieces.index(loosest)] = finer.intersect(loosest.bounds)
    return _sum_pieces(pieces)


def _sum_pieces(pieces: Sequence[_Piece]) -> Interval:
    """Return bounds on the logarithm of the sum of the integrals of all pieces."""
    lower = float(np.logaddexp.reduce([piece.bounds.lower for piece in pieces]))
    upper = float(np.logaddexp.reduce([piece.bounds.upper for piece in pieces]))
    return Interval(lower, upper)


def _first_count(length: float, order: float, is_costly: bool) -> int:
    """Return the number of steps with which an interval of ε is first integrated.

    Args:
        length: length of the interval, in nats.
        order: order a > 1 of the Rényi divergence.
        is_costly: whether the profile is computed point by point, so that few steps must suffice.

    Returns:
        The number of steps, at least `_FEWEST_COSTLY` if it is costly, and otherwise from `_FEWEST` to `_MOST`.
    """
    if is_costly:
        fewest_by_order = order * length / _LONGEST_STEP
        fewest_by_length = length / _LONGEST_OF_NATS
        return math.ceil(max(fewest_by_order, fewest_by_length, _FEWEST_COSTLY))
    return math.ceil(min(max(_STEPS_PER_UNIT * order * length, _FEWEST), _MOST))


def _is_costly(profile: Profile) -> bool:
    """Return whether a privacy profile, or one that it is computed from, is evaluated at one ε after another."""
    if profile.estimated or profile.pointwise:
        return True
    sources = [getattr(profile, "base", None), getattr(profile, "made", None), *getattr(profile, "profiles", ())]
    return any(isinstance(source, Profile) and _is_costly(source) for source in sources)


def _width(bounds: Interval, scale: float) -> float:
    """Return the difference of two bounds on a logarithm as numbers, in units of e^`scale`."""
    return math.exp(bounds.upper - scale) - math.exp(bounds.lower - scale)


def _bound_integral(
    profile: Profile,
    power: float,
    ends: tuple[float, float],
    count: int,
    cap: Callable[[FloatArray], FloatArray] | None,
) -> Interval:
    """Return bounds on the logarithm of ∫ e^{p ε} E(ε) dε over one interval, for a privacy profile E(ε).

    E is convex as a function of e^ε. On each step it is therefore at most the chord, the straight line in e^ε through
    its values at both ends of the step. It is at least the line through its values at both ends of the next step,
    extended to this one.

    Args:
        profile: the privacy profile with log E.
        power: the exponent p.
        ends: first and last ε, in nats.
        count: number of steps.
        cap: function that returns another upper bound on log E at each ε; None if there is none.

    Returns:
        Lower and upper bound on the natural logarithm.
    """
    start, end = ends
    step = (end - start) / count
    epsilons: FloatArray = np.asarray(start + step * np.arange(count + 2), dtype=np.float64)
    weights = _Weights.of(power, step)

    # `lower` and `upper` bound e^{p ε} E(ε) at the points, in units of the largest value.
    log_delta = profile.log_delta(epsilons)
    log_most = log_delta.upper if cap is None else np.minimum(log_delta.upper, cap(epsilons))
    log_least = np.minimum(log_delta.lower, log_most)
    scale = float(np.max(power * epsilons + log_most))
    if scale == -math.inf:
        return Interval(-math.inf, -math.inf)
    with np.errstate(under="ignore"):
        upper = np.exp(power * epsilons + log_most - scale)
        lower = np.exp(power * epsilons + log_least - scale)

    # In units of e^{p ε_i}, a value at ε_{i+1} is the scaled value times e^{−p h}.
    shrink = math.exp(-power * step)
    chord = weights.left * upper[:-2] + weights.right * shrink * upper[1:-1]
    fall = np.maximum(lower[1:-1] - shrink * upper[2:], 0.0)
    extended_chord = (weights.left + weights.right) * lower[1:-1] + weights.left * math.exp(-step) * fall

    # The points are rounded, which changes e^{p ε} E at most by this relative amount.
    rounding = 8 * UNIT_ROUNDOFF * (1.0 + abs(power)) * (1.0 + end) * (1.0 + 1.0 / step)
    least = shrink * math.fsum(extended_chord) * (1.0 - 2.0 * weights.error - rounding)
    most = math.fsum(chord) * (1.0 + 2.0 * weights.error + rounding)
    log_least_integral = scale + math.log(least) if least > 0.0 else -math.inf
    return Interval(log_least_integral, scale + math.log(most))
