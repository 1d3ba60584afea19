"""log θ_ε(r) and log(1 − θ_ε(r)) at many shifts r, with bounds on their errors (`special` defines θ)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import (
    FARTHEST,
    UNIT_ROUNDOFF,
    log_theta,
    log_theta_and_complement,
    log_theta_complement,
    mills,
)

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ROUNDING = 64 * UNIT_ROUNDOFF
"""Error of log θ and log(1 − θ) per unit of 1 + |value| + ε, for a shift known to eight units of roundoff.

The error of `log_theta` is at most 16 units of 1 + |value|. For the error of the shift,
d log θ/d log r = r/(R(a) − R(b)) ≤ 2(2 |log θ| + ε + 2). Likewise
−d log(1 − θ)/d log r = r/(R(−a) + R(b)) ≤ 6 |log(1 − θ)| + ε + 4, with a, b, R as in `special`.
"""
_LOG_HALF = -0.7
"""log(1 − θ) below which θ is above one half, and log θ is computed from 1 − θ."""
PIECE, LEAST_PIECES = 1e-4, 64
"""Length of a piece of a table of θ, relative to the least shift, and the least number of pieces."""
SAVING = 4
"""Least number of shifts for each piece of a table; with fewer shifts, direct evaluation is used."""
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def theta_with_error(epsilon: float | FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and a bound on its absolute error, elementwise, for shifts known to eight units of roundoff.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε. Near θ = 1, log θ is computed from 1 − θ, so
    that its error is relative to log θ itself. A product of ten million such factors therefore remains accurate.

    Args:
        epsilon: ε, or a column of several ε, which gives one row for each.
        shift: values of the shift r, in standard deviations of the noise.

    Returns:
        log θ of each shift, and a bound on its absolute error.
    """
    direct_value, log_complement = _log_theta_pair(epsilon, shift)
    is_near_one = log_complement < _LOG_HALF
    value = np.log1p(-np.exp(np.where(is_near_one, log_complement, -1.0)))  # −1 where it is replaced below
    if direct_value is not None:
        value = np.where(is_near_one, value, direct_value)

    # An infinite logarithm is exact. Its size is set to 0, because inf would make the bounds NaN or infinite.
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    complement_size = np.where(np.isfinite(log_complement), np.abs(log_complement), 0.0)
    error_near_one = 2.0 * size * (1.0 + complement_size + epsilon)
    error = np.where(is_near_one, error_near_one, 1.0 + size + epsilon) * ROUNDING
    return value, np.where(np.isneginf(value), 0.0, error)


def _log_theta_pair(epsilon: float | FloatArray, shift: FloatArray) -> tuple[FloatArray | None, FloatArray]:
    """Return log θ and log(1 − θ) for θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε.

    If all shifts are large, log θ is computed only where θ is at most about one half.

    Args:
        epsilon: ε, or a column of several ε.
        shift: values of the shift r, in standard deviations of the noise.

    Returns:
        log θ and log(1 − θ). Where θ is above one half, log θ may be wrong. It is None if this holds for every θ.
    """
    if not isinstance(epsilon, float) or not _all_large(epsilon, shift):
        return log_theta_and_complement(epsilon, shift)
    log_complement = log_rest(epsilon, shift)
    is_near_one = log_complement < _LOG_HALF
    if is_near_one.all():
        return None, log_complement
    # A shift of 1 replaces those for which log θ is not needed.
    return log_theta(epsilon, np.where(is_near_one, 1.0, shift)), log_complement


def log_rest(epsilon: float, shift: FloatArray) -> FloatArray:
    """Return log(1 − θ_ε(r)), in plain double arithmetic if all shifts r are large.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε. Large means a = ε/r − r/2 < −1. With the Mills
    ratio R(x) = (1 − Φ(x))/φ(x), the result is then:

        −a²/2 − log √2π + log(R(−a) + R(a + r)).

    The number a rounds by 2u(ε/r + r/2) at most, with u the unit of roundoff. This changes a²/2 by at most
    4u(|value| + ε + 1).

    Args:
        epsilon: ε, in nats.
        shift: values of r, in standard deviations of the noise.

    Returns:
        One logarithm, at most 0, for each shift.

    Guarantees:
        The error is at most `ROUNDING` · (1 + |value| + ε).
    """
    if not _all_large(epsilon, shift):
        return log_theta_complement(epsilon, shift)
    with np.errstate(divide="ignore", over="ignore"):
        a = epsilon / shift - 0.5 * shift
        mills_sum = mills(-a) + mills(a + shift)
        return np.asarray(-0.5 * a * a - _LOG_SQRT_2PI + np.log(mills_sum))


def _all_large(epsilon: float, shift: FloatArray) -> bool:
    """Return whether ε/r − r/2 < −1 for every shift r, and no shift is so large that its square overflows.

    `log_rest` evaluates such shifts in plain double arithmetic.

    Args:
        epsilon: ε ≥ 0, in nats.
        shift: values of r > 0.

    Returns:
        True if both conditions hold; False if there is no shift.
    """
    if not shift.size or not shift.max() <= FARTHEST:
        return False
    # The condition is 2ε < r (r − 2). It holds for every larger r too, so the least shift decides.
    least = shift.min()
    return bool(2.0 * epsilon < least * (least - 2.0))


def theta_of_many(epsilon: float, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and a bound on its error at many shifts r, by a table if many of them are close together.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε. No table is used if all shifts are equal, or if
    ε/r − r/2 < −1 for all of them, where direct evaluation is quick.

    Args:
        epsilon: ε, in nats.
        shift: values of r, at least one.

    Returns:
        log θ of each shift, and a bound on its absolute error.
    """
    least, largest = float(shift.min()), float(shift.max())
    if least == largest:
        (value,), (error,) = theta_with_error(epsilon, shift[:1])
        return np.full(shift.shape, value), np.full(shift.shape, error)

    is_direct_quick = 2.0 * epsilon < least * (least - 2.0)  # ε/r − r/2 < −1 for the least r, and so for all
    pieces = max(LEAST_PIECES, math.ceil(min((largest / least - 1.0) / PIECE, 1e9)))
    has_few_shifts = shift.size < SAVING * pieces
    if is_direct_quick or has_few_shifts:
        return theta_with_error(epsilon, shift)
    return _tabulate(epsilon, shift, np.linspace(least, largest, pieces + 1))


def _tabulate(epsilon: float, shift: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Interpolate log θ_ε(r) in a table, with a bound on the error that follows from its concavity in r.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε. Its derivative φ(ε/r − r/2) in r is
    log-concave, so θ, the integral from 0, is log-concave too. Between two nodes, log θ is above its chord. The
    difference is at most the step times the smaller of the changes of slope at the two nodes.

    Args:
        epsilon: ε, in nats.
        shift: values of r, between the first and the last node.
        nodes: equally spaced values of r for the table, at least three.

    Returns:
        log θ_ε(r), and a bound on its absolute error.
    """
    pieces, least, most = nodes.size - 1, nodes[0], nodes[-1]
    value, error = theta_with_error(epsilon, nodes)
    if not np.isfinite(value).all():
        return theta_with_error(epsilon, shift)

    # The largest distance of log θ from the chord on each piece. The first and the last piece have only one neighbour.
    rise = np.diff(value)
    change_of_slope = np.maximum(rise[:-1] - rise[1:], 0.0)
    at_left_node = np.append(change_of_slope[0], change_of_slope)
    at_right_node = np.append(change_of_slope, change_of_slope[-1])
    largest_gap = np.minimum(at_left_node, at_right_node)

    # Interpolation has the error of one node. Half a change of slope has that of two nodes and enters twice. The sum is
    # five node errors; a factor of 6 leaves a margin.
    node_error = np.maximum(error[:-1], error[1:])
    neighbours = np.stack((node_error, np.roll(node_error, 1), np.roll(node_error, -1)))
    table_error = 6.0 * np.max(neighbours, axis=0)

    # The position of a shift in the table has a relative error of a few units of roundoff.
    position = np.clip((shift - least) * (pieces / (most - least)), 0.0, pieces)
    piece = np.minimum(position.astype(np.int64), pieces - 1)
    position_error = 8 * UNIT_ROUNDOFF * pieces * most / (most - least) * np.abs(rise)

    # The result is the middle between the chord and the chord raised by the largest distance.
    middle = value[:-1] + 0.5 * largest_gap
    interpolated = middle[piece] + (position - piece) * rise[piece]
    return interpolated, (0.5 * largest_gap + table_error + position_error)[piece]
