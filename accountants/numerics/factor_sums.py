"""Sums of products of contraction factors, with their rounding errors.

A release at step τ carries Σ_{j ≤ τ} A_j Π_{j<k≤τ} B_k with A_j, B_k ∈ [0, 1]. With B constant these are geometric sums
in u = 1 − B, which must be given as u (never as 1 − fl(B)). With schedules they are one backward pass in logarithms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
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

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

ROUNDING = 64 * UNIT_ROUNDOFF
"""Error of log θ and log(1 − θ) per unit of 1 + |value| + ε, for a shift known to eight units of roundoff.

The error of `log_theta` is at most 16 units of 1 + |value|. For the error of the shift,
d log θ/d log r = r/(R(a) − R(b)) ≤ 2(2 |log θ| + ε + 2). Likewise
−d log(1 − θ)/d log r = r/(R(−a) + R(b)) ≤ 6 |log(1 − θ)| + ε + 4, with a, b, R as in `special`.
"""
CHUNK = 2**14
BLOCK = 2**10
"""Number of stops in a block of a sum. The error of a running sum of logarithms grows with the square of its length."""
LEAST_LOG_FACTOR = -1e3
"""Least logarithm of a factor. A smaller factor is raised to e^−1000: the bound remains valid, and products finite."""
NEGLIGIBLE = 45.0
PIECE, LEAST_PIECES = 1e-4, 64
SAVING = 4
"""Least number of shifts for each piece of a table of θ, for many shifts that are close together.

`PIECE` is the length of a piece relative to the least shift, and `LEAST_PIECES` the least number of pieces.
"""
MOST_RANGE = 500.0
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def theta_with_error(epsilon: float | FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and a bound on its absolute error, elementwise, for shifts known to eight units of roundoff.

    Near θ = 1 the error is relative to log θ itself, so that ten million factors may be multiplied.

    Args:
        epsilon: ε, or a column of several ε, which gives one row for each.
        shift: values of r.
    """
    if isinstance(epsilon, float) and _all_large(epsilon, shift):
        value, rest = None, log_rest(epsilon, shift)
    else:
        value, rest = log_theta_and_complement(epsilon, shift)
    high = rest < -0.7
    near_one = np.log1p(-np.exp(np.where(high, rest, -1.0)))
    if high.all():
        value = near_one
    else:
        value = np.where(high, near_one, log_theta(epsilon, np.where(high, 1.0, shift)) if value is None else value)
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    depth = np.where(np.isfinite(rest), np.abs(rest), 0.0)
    error = np.where(high, 2.0 * size * (1.0 + depth + epsilon), 1.0 + size + epsilon) * ROUNDING
    return value, np.where(np.isneginf(value), 0.0, error)


def log_rest(epsilon: float, shift: FloatArray) -> FloatArray:
    """Return log(1 − θ_ε(r)) within `ROUNDING` · (1 + |value| + ε), in plain double arithmetic if all shifts are large.

    For a = ε/r − r/2 < −1 it is −a²/2 − log √2π + log(R(−a) + R(a + r)). The rounding of a is at most 2u(ε/r + r/2),
    with u the unit of roundoff. It changes a²/2 by at most 4u(|value| + ε + 1).
    """
    if not _all_large(epsilon, shift):
        return log_theta_complement(epsilon, shift)
    with np.errstate(divide="ignore", over="ignore"):
        a = epsilon / shift - 0.5 * shift
        return np.asarray(-0.5 * a * a - _LOG_SQRT_2PI + np.log(mills(-a) + mills(a + shift)))


def _all_large(epsilon: float, shift: FloatArray) -> bool:
    """Return whether ε/r − r/2 < −1 for every shift, and no shift is so large that its square overflows."""
    return bool(shift.size) and bool(shift.max() <= FARTHEST and 2.0 * epsilon < shift.min() * (shift.min() - 2.0))


def geometric_sum(rest: float, count: float) -> float:
    """Return G_T = Σ_{k<T} (1 − u)^k = (1 − (1 − u)^T)/u, for u = `rest` in [0, 1] and real T = `count` ≥ 1.

    The relative error is at most 1e-15.
    """
    if rest * count < 1e-17:
        return count
    return 1.0 if rest >= 1.0 else -math.expm1(count * math.log1p(-rest)) / rest


def triangular_sum(rest: float, count: float) -> float:
    """Return H_T = Σ_{τ=1}^T G_τ of the geometric sums G_τ = Σ_{k<τ} (1 − u)^k.

    The relative error is at most 1e-14 for T up to 1e9.

    Args:
        rest: u in [0, 1].
        count: T ≥ 0.
    """
    if count <= 0:
        return 0.0
    if rest * count >= 0.5:
        return (count - (1.0 - rest) * geometric_sum(rest, count)) / rest
    term = total = 0.5 * count * (count + 1.0)
    for k in range(60):
        term *= -rest * (count - 1.0 - k) / (k + 3.0)
        total += term
        if abs(term) < 1e-18 * total:
            break
    return total


class ShiftSequence(Protocol):
    """The shifts of a run of `count` steps, by chunks."""

    @property
    def count(self) -> int:
        """Number of steps."""

    @property
    def largest_sensitivity(self) -> float:
        """Largest of all sensitivity shifts."""

    @property
    def one_sensitivity(self) -> bool:
        """True if all sensitivity shifts are equal."""

    def least_contraction(self, first: int, last: int) -> float:
        """Return the least contraction shift of steps first, …, last."""

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Return sensitivity shifts r_s(t) and contraction shifts r_c(t) of steps first, …, last.

        Their relative error is at most eight units of roundoff.
        """


def log_scheduled_sum(epsilon: float, steps: ShiftSequence, first_stop: int, *, worst: bool) -> Interval:
    """Enclose log Σ_j A_j R_j, or log max_j A_j R_j if `worst`, with A = θ_ε(r_s) and B = θ_ε(r_c).

    R_j = Σ_{τ ≥ max(j, first_stop)} Π_{j<k≤τ} B_k is the effect of a use at step j on the later releases. It satisfies
    R_j = [j ≥ first_stop] + B_{j+1} R_{j+1}. The method is one backward pass, in O(T) time and constant memory. It
    stops early if the rest is negligible, and charges the rest.

    Args:
        epsilon: ε, in nats.
        steps: shifts of the run.
        first_stop: first step that may be released.
        worst: whether the maximum is taken instead of the sum.
    """
    total_lower = total_upper = inflow = -math.inf
    inflow_error = 0.0
    (log_largest,), (largest_error,) = theta_with_error(epsilon, np.asarray([steps.largest_sensitivity]))
    join = max if worst else _log_add
    for last in range(steps.count, 0, -CHUNK):
        first = max(1, last - CHUNK + 1)
        rest = _negligible_rest(epsilon, steps.least_contraction(first, last), steps.count)
        if rest is not None and last < first_stop and steps.one_sensitivity and not worst:
            length = last - first + 1
            inflow_error += 2.0 * rest * length
            term = log_largest + inflow + math.log(length)
            total_lower = _log_add(total_lower, term - largest_error - inflow_error)
            total_upper = _log_add(total_upper, term + largest_error + inflow_error)
            continue
        sensitivity, contraction = steps.shifts(first, last)
        value, error = theta_of_many(epsilon, sensitivity)
        factor, factor_error = _factors(epsilon, contraction, rest, steps.count, stops_before=first > first_stop)
        reach, reach_error = np.empty_like(value), np.empty_like(value)
        length = BLOCK if last > first_stop else CHUNK
        for end in range(value.size, 0, -length):
            part = slice(max(0, end - length), end)
            stops = np.arange(first + part.start, first + end) >= first_stop
            reach[part], reach_error[part] = _stop_sums(factor[part], factor_error[part], stops, inflow, inflow_error)
            inflow = float(reach[part.start] + factor[part.start])
            inflow_error = float(reach_error[part.start] + factor_error[part.start])
        lower, upper = value + reach - (error + reach_error), value + reach + (error + reach_error)
        total_lower = join(total_lower, float(lower.max()) if worst else log_sum(lower))
        total_upper = join(total_upper, float(upper.max()) if worst else log_sum(upper))
        left = inflow + inflow_error + float(log_largest + largest_error) + math.log(first)
        if 1 < first <= first_stop and left < total_lower - NEGLIGIBLE:
            total_upper = _log_add(total_upper, left)
            break
    slack = (128.0 + 4.0 * (steps.count // CHUNK)) * UNIT_ROUNDOFF * (1.0 + abs(total_upper))
    return Interval(total_lower - slack, total_upper + slack)


def log_sum(values: FloatArray) -> float:
    """Return log Σ e^values; −inf for no values."""
    largest = float(values.max()) if values.size else -math.inf
    return largest if math.isinf(largest) else largest + math.log(float(np.exp(values - largest).sum()))


def _log_add(first: float, second: float) -> float:
    return float(np.logaddexp(first, second))


def theta_of_many(epsilon: float, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the result of `theta_with_error`, computed once for equal shifts, and by a table for many close shifts."""
    least, most = float(shift.min()), float(shift.max())
    if least == most:
        value, error = theta_with_error(epsilon, shift[:1])
        return np.full(shift.shape, value[0]), np.full(shift.shape, error[0])
    quick = 2.0 * epsilon < least * (least - 2.0)
    pieces = max(LEAST_PIECES, math.ceil(min((most / least - 1.0) / PIECE, 1e9)))
    if quick or shift.size < SAVING * pieces:
        return theta_with_error(epsilon, shift)
    return _tabulate(epsilon, shift, np.linspace(least, most, pieces + 1))


def _tabulate(epsilon: float, shift: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Interpolate log θ_ε in a table, with a bound on the error that follows from its concavity in r.

    The derivative dθ_ε/dr = φ(ε/r − r/2) is log-concave. θ is the integral from 0 of this function, and so is itself
    log-concave. Between the nodes r_i and r_{i+1} it is above the chord. The difference is at most the step times the
    smaller of the two changes of slope at the nodes.

    Args:
        epsilon: ε, in nats.
        shift: values of r, between the first and the last node.
        nodes: equally spaced r of the table.

    Returns:
        log θ_ε(r), and a bound on its absolute error.
    """
    pieces, least, most = nodes.size - 1, nodes[0], nodes[-1]
    value, error = theta_with_error(epsilon, nodes)
    if not np.isfinite(value).all():
        return theta_with_error(epsilon, shift)
    rise = np.diff(value)
    bend = np.maximum(rise[:-1] - rise[1:], 0.0)
    gap = np.minimum(np.append(bend[0], bend), np.append(bend, bend[-1]))
    around = np.maximum(error[:-1], error[1:])
    # A rise has the errors of two nodes, and a bend those of four. A shift's place has a few roundoffs of its size.
    around = 6.0 * np.max(np.stack((around, np.roll(around, 1), np.roll(around, -1))), axis=0)
    place = np.clip((shift - least) * (pieces / (most - least)), 0.0, pieces)
    piece = np.minimum(place.astype(np.int64), pieces - 1)
    lost = 8 * UNIT_ROUNDOFF * pieces * most / (most - least) * np.abs(rise)
    middle = value[:-1] + 0.5 * gap
    return middle[piece] + (place - piece) * rise[piece], (0.5 * gap + around + lost)[piece]


def _negligible_rest(epsilon: float, least_contraction: float, count: int) -> float | None:
    """Return the largest 1 − B = 1 − θ_ε(r_c) of a chunk of steps if `count` such terms are negligible; None otherwise.

    Args:
        epsilon: ε, in nats.
        least_contraction: least contraction shift r_c of the chunk.
        count: number of steps of the run.
    """
    rest = float(log_rest(epsilon, np.asarray([least_contraction]))[0]) + ROUNDING
    return math.exp(rest) if rest < -NEGLIGIBLE - math.log(count) else None


def _factors(
    epsilon: float, contraction: FloatArray, rest: float | None, count: int, *, stops_before: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the log contraction factors B = θ_ε(r_c) of a chunk of steps, with bounds on their errors.

    If every factor is negligibly close to 1, it counts as 1. If all factors are negligibly close to 0, and the step
    before the chunk may be released too, no R_j depends on them. The largest factor then replaces all.

    Args:
        epsilon: ε, in nats.
        contraction: contraction shifts r_c of the chunk.
        rest: largest 1 − B if it is negligible; None otherwise.
        count: number of steps of the run.
        stops_before: whether the step before the chunk may be released.
    """
    if rest is not None:
        return np.zeros(contraction.shape), np.full(contraction.shape, 2.0 * rest)
    if stops_before:
        (largest,), (error,) = theta_with_error(epsilon, contraction.max(keepdims=True))
        if largest + error < -NEGLIGIBLE - math.log(count):
            return np.full(contraction.shape, max(largest + error, LEAST_LOG_FACTOR)), np.full(contraction.shape, 1e-19)
    value, errors = theta_of_many(epsilon, contraction)
    return np.maximum(value, LEAST_LOG_FACTOR), np.where(value + errors < LEAST_LOG_FACTOR, 0.0, errors)


def _stop_sums(
    factor: FloatArray, factor_error: FloatArray, stops: BoolArray, inflow: float, inflow_error: float
) -> tuple[FloatArray, FloatArray]:
    """Return log R_j for the steps j of a block, and its error; R_j is the effect of a use at step j on later releases.

    R_j = e^{S_j} (Σ_{stops τ ≥ j} e^{−S_τ} + B R), with S_j the sum of log B over the steps after j in the block, and
    with B R of the first step after the block.

    Args:
        factor: log B of each step of the block.
        factor_error: bounds on their errors.
        stops: mask of the steps that may be released.
        inflow: log(B R) of the first step after the block.
        inflow_error: bound on its error.
    """
    after, error = _suffix(factor), _suffix(factor_error) + inflow_error
    distance = np.arange(factor.size, 0.0, -1.0)
    if not stops.any():
        return after + inflow, error + 4 * UNIT_ROUNDOFF * (distance * np.abs(after) + abs(inflow))
    running = np.append(np.where(stops, -after, -np.inf), inflow)[::-1]
    reached = _running_sum(running)[1:][::-1]
    return after + reached, error + 4 * UNIT_ROUNDOFF * distance * (1.0 + np.abs(after) + np.abs(reached))


def _running_sum(logs: FloatArray) -> FloatArray:
    """Return log Σ_{k ≤ j} e^{logs_k}, by a plain sum if all terms are doubles relative to the largest."""
    finite = logs[np.isfinite(logs)]
    if not finite.size or finite.max() - finite.min() > MOST_RANGE:
        return np.asarray(np.logaddexp.accumulate(logs))
    with np.errstate(divide="ignore"):
        return np.asarray(finite.max() + np.log(np.cumsum(np.exp(logs - finite.max()))))


def _suffix(values: FloatArray) -> FloatArray:
    """Return Σ_{k>j} values_k."""
    sums = np.cumsum(values[::-1])[::-1]
    return np.append(sums[1:], 0.0)
