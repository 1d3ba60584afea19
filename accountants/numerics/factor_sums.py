"""Sums of products of contraction factors, with their rounding errors.

The bound on δ of a model that is released at step τ is Σ_{j ≤ τ} A_j Π_{j<k≤τ} B_k. A_j ∈ [0, 1] is the divergence from
a use of the record at step j, and B_k ∈ [0, 1] the factor by which step k contracts it. If all B_k are equal to 1 − u,
these are geometric sums, which take u itself, because 1 − B would lose its digits. If the noise or the step sizes vary,
they are computed by one backward pass in logarithms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.mixed_sums import log_sum, running_log_sums
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
_LOG_HALF = -0.7
"""log(1 − θ) below which θ is above one half, and log θ is computed from 1 − θ."""
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
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


def theta_with_error(epsilon: float | FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and a bound on its absolute error, elementwise, for shifts known to eight units of roundoff.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε (`special`). Near θ = 1 the error is relative to
    log θ itself. A product of ten million such factors therefore remains accurate.

    Args:
        epsilon: ε, or a column of several ε, which gives one row for each.
        shift: values of the shift r.
    """
    direct, log_complement = _log_theta_pair(epsilon, shift)
    is_near_one = log_complement < _LOG_HALF
    value = np.log1p(-np.exp(np.where(is_near_one, log_complement, -1.0)))
    if direct is not None:
        value = np.where(is_near_one, value, direct)
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    depth = np.where(np.isfinite(log_complement), np.abs(log_complement), 0.0)
    error = np.where(is_near_one, 2.0 * size * (1.0 + depth + epsilon), 1.0 + size + epsilon) * ROUNDING
    return value, np.where(np.isneginf(value), 0.0, error)


def _log_theta_pair(epsilon: float | FloatArray, shift: FloatArray) -> tuple[FloatArray | None, FloatArray]:
    """Return log θ and log(1 − θ) of θ = θ_ε(r), the hockey-stick divergence of N(r, 1) and N(0, 1), elementwise.

    If all shifts are large, log θ is computed only where θ is at most about one half. Usually there is no such shift;
    then None is returned for it.

    Args:
        epsilon: ε, or a column of several ε.
        shift: values of the shift r.
    """
    if not isinstance(epsilon, float) or not _all_large(epsilon, shift):
        return log_theta_and_complement(epsilon, shift)
    log_complement = log_rest(epsilon, shift)
    is_near_one = log_complement < _LOG_HALF
    if is_near_one.all():
        return None, log_complement
    return log_theta(epsilon, np.where(is_near_one, 1.0, shift)), log_complement


def log_rest(epsilon: float, shift: FloatArray) -> FloatArray:
    """Return log(1 − θ_ε(r)) within `ROUNDING` · (1 + |value| + ε), in plain double arithmetic if all shifts are large.

    Large means a = ε/r − r/2 < −1. With Mills' ratio R (`special`) it is −a²/2 − log √2π + log(R(−a) + R(a + r)). a
    rounds by 2u(ε/r + r/2) at most, with u the unit of roundoff, which changes a²/2 by at most 4u(|value| + ε + 1).

    Args:
        epsilon: ε, in nats.
        shift: values of r.
    """
    if not _all_large(epsilon, shift):
        return log_theta_complement(epsilon, shift)
    with np.errstate(divide="ignore", over="ignore"):
        a = epsilon / shift - 0.5 * shift
        return np.asarray(-0.5 * a * a - _LOG_SQRT_2PI + np.log(mills(-a) + mills(a + shift)))


def _all_large(epsilon: float, shift: FloatArray) -> bool:
    """Return whether ε/r − r/2 < −1 for every shift r, and no shift is so large that its square overflows."""
    if not shift.size or not shift.max() <= FARTHEST:
        return False
    least = shift.min()
    return bool(2.0 * epsilon < least * (least - 2.0))


class ShiftSequence(Protocol):
    """Interface to the shifts of a run of `count` noisy steps, evaluated for a range of steps at a time.

    Step t has a sensitivity shift r_s(t) and a contraction shift r_c(t), in standard deviations of the noise.
    """

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
    """Enclose log Σ_j A_j R_j over the steps j of a run, or log max_j A_j R_j if `worst`.

    A_j = θ_ε(r_s(j)) is the divergence from a use of the record at step j, and B_k = θ_ε(r_c(k)) its contraction by
    step k. R_j = Σ_{τ ≥ max(j, first_stop)} Π_{j<k≤τ} B_k adds up the effects on the releases at steps τ. As R_j is
    [j ≥ first_stop] + B_{j+1} R_{j+1}, one backward pass takes O(T) time. It stops early, and charges the steps that
    are left, if these are negligible.

    Args:
        epsilon: ε, in nats.
        steps: shifts of the run.
        first_stop: first step that may be released.
        worst: whether the maximum is taken instead of the sum.
    """
    sums = _BackwardPass(epsilon, steps, first_stop, worst)
    for last in range(steps.count, 0, -CHUNK):
        first = max(1, last - CHUNK + 1)
        rest = _negligible_rest(epsilon, steps.least_contraction(first, last), steps.count)
        are_terms_equal = rest is not None and last < first_stop and steps.one_sensitivity
        if rest is not None and are_terms_equal and not worst:
            sums.add_equal_terms(last - first + 1, rest)
            continue
        sums.add_chunk(first, last, rest)
        if sums.charge_negligible_steps(first):
            break
    chunks = steps.count // CHUNK
    slack = (128.0 + 4.0 * chunks) * UNIT_ROUNDOFF * (1.0 + abs(sums.total_upper))
    return Interval(sums.total_lower - slack, sums.total_upper + slack)


class _BackwardPass:
    """The state of a pass over the steps of a run from the last to the first, which adds up A_j R_j.

    Attributes:
        total_lower, total_upper: bounds on the log of the sum, or of the maximum, so far.
        inflow: log(B_{j+1} R_{j+1}) of the last step j + 1 that was added.
        inflow_error: bound on its error.
    """

    def __init__(self, epsilon: float, steps: ShiftSequence, first_stop: int, worst: bool) -> None:
        self._epsilon, self._steps, self._first_stop, self._worst = epsilon, steps, first_stop, worst
        self.total_lower = self.total_upper = self.inflow = -math.inf
        self.inflow_error = 0.0
        (value,), (error,) = theta_with_error(epsilon, np.asarray([steps.largest_sensitivity]))
        self._log_largest, self._largest_error = value, error

    def add_equal_terms(self, length: int, rest: float) -> None:
        """Add the terms A_j R_j of consecutive steps that are equal, without evaluating each (`log_scheduled_sum`).

        The steps are before `first_stop`, have equal A_j, and have B_j negligibly close to 1.

        Args:
            length: number of steps.
            rest: largest 1 − B_j.
        """
        self.inflow_error += 2.0 * rest * length
        log_sum_of_terms = self._log_largest + self.inflow + math.log(length)
        lower = log_sum_of_terms - self._largest_error - self.inflow_error
        upper = log_sum_of_terms + self._largest_error + self.inflow_error
        self.total_lower = _log_add(self.total_lower, lower)
        self.total_upper = _log_add(self.total_upper, upper)

    def add_chunk(self, first: int, last: int, rest: float | None) -> None:
        """Add the terms A_j R_j of the steps first, …, last to the bounds on their sum (`log_scheduled_sum`).

        Args:
            first: the first step.
            last: the last step.
            rest: largest 1 − B of these steps if it is negligible; None otherwise.
        """
        sensitivity, contraction = self._steps.shifts(first, last)
        log_a, a_error = theta_of_many(self._epsilon, sensitivity)
        log_b, b_error = _factors(
            self._epsilon, contraction, rest, self._steps.count, stops_before=first > self._first_stop
        )
        log_r, r_error = np.empty_like(log_a), np.empty_like(log_a)
        block_length = BLOCK if last > self._first_stop else CHUNK
        for end in range(log_a.size, 0, -block_length):
            start = max(0, end - block_length)
            block = slice(start, end)
            may_stop = np.arange(first + start, first + end) >= self._first_stop
            log_r[block], r_error[block] = _stop_sums(
                log_b[block], b_error[block], may_stop, self.inflow, self.inflow_error
            )
            self.inflow = float(log_r[start] + log_b[start])
            self.inflow_error = float(r_error[start] + b_error[start])
        self._join(log_a + log_r, a_error + r_error)

    def _join(self, log_terms: FloatArray, errors: FloatArray) -> None:
        """Add terms to the sum, or take their maximum."""
        lower, upper = log_terms - errors, log_terms + errors
        if self._worst:
            self.total_lower = max(self.total_lower, float(lower.max()))
            self.total_upper = max(self.total_upper, float(upper.max()))
        else:
            self.total_lower = _log_add(self.total_lower, log_sum(lower))
            self.total_upper = _log_add(self.total_upper, log_sum(upper))

    def charge_negligible_steps(self, first: int) -> bool:
        """Charge the steps before `first` to the upper bound if their terms are negligible; return whether they are.

        Before the first step that may be released, R_j does not increase towards earlier steps. Each term A_j R_j is
        then at most the product of the largest A, and B and R of the step `first` (`log_scheduled_sum`).
        """
        if not 1 < first <= self._first_stop:
            return False
        log_largest = float(self._log_largest + self._largest_error)
        log_bound = self.inflow + self.inflow_error + log_largest + math.log(first)
        if not log_bound < self.total_lower - NEGLIGIBLE:
            return False
        self.total_upper = _log_add(self.total_upper, log_bound)
        return True


def _log_add(first: float, second: float) -> float:
    """Return log(e^first + e^second) of two numbers."""
    return float(np.logaddexp(first, second))


def theta_of_many(epsilon: float, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log θ_ε(r) and a bound on its error at many shifts r, by a table if many of them are close together.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) and N(0, 1) at e^ε. Equal shifts are computed once. Shifts that are
    all large (`log_rest`) need no table, as direct evaluation is quick.

    Args:
        epsilon: ε, in nats.
        shift: values of r, at least one.
    """
    least, largest = float(shift.min()), float(shift.max())
    if least == largest:
        value, error = theta_with_error(epsilon, shift[:1])
        return np.full(shift.shape, value[0]), np.full(shift.shape, error[0])
    is_direct_quick = 2.0 * epsilon < least * (least - 2.0)
    pieces = max(LEAST_PIECES, math.ceil(min((largest / least - 1.0) / PIECE, 1e9)))
    if is_direct_quick or shift.size < SAVING * pieces:
        return theta_with_error(epsilon, shift)
    return _tabulate(epsilon, shift, np.linspace(least, largest, pieces + 1))


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
    change_of_slope = np.maximum(rise[:-1] - rise[1:], 0.0)
    at_left_node, at_right_node = (
        np.append(change_of_slope[0], change_of_slope),
        np.append(change_of_slope, change_of_slope[-1]),
    )
    largest_gap = np.minimum(at_left_node, at_right_node)
    # A rise has the errors of two nodes, and a change of slope those of four.
    node_error = np.maximum(error[:-1], error[1:])
    neighbours = np.stack((node_error, np.roll(node_error, 1), np.roll(node_error, -1)))
    table_error = 6.0 * np.max(neighbours, axis=0)
    # The position of a shift in the table has a few roundoffs of its size.
    position = np.clip((shift - least) * (pieces / (most - least)), 0.0, pieces)
    piece = np.minimum(position.astype(np.int64), pieces - 1)
    position_error = 8 * UNIT_ROUNDOFF * pieces * most / (most - least) * np.abs(rise)
    middle = value[:-1] + 0.5 * largest_gap
    interpolated = middle[piece] + (position - piece) * rise[piece]
    return interpolated, (0.5 * largest_gap + table_error + position_error)[piece]


def _negligible_rest(epsilon: float, least_contraction: float, count: int) -> float | None:
    """Return the largest 1 − B of several steps with contraction factors B = θ_ε(r_c); None unless negligible.

    It is negligible if `count` such terms are.

    Args:
        epsilon: ε, in nats.
        least_contraction: least contraction shift r_c of the steps.
        count: number of steps of the run.
    """
    rest = float(log_rest(epsilon, np.asarray([least_contraction]))[0]) + ROUNDING
    return math.exp(rest) if rest < -NEGLIGIBLE - math.log(count) else None


def _factors(
    epsilon: float, contraction: FloatArray, rest: float | None, count: int, *, stops_before: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the log contraction factors log B = log θ_ε(r_c) of a chunk of steps, with bounds on their errors.

    If every factor is negligibly close to 1, it counts as 1. If all are negligibly close to 0, the largest replaces
    all, provided that the step before the chunk may be released: then B R hardly adds to the 1 in every R_j.

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
        log_bound = largest + error
        if log_bound < -NEGLIGIBLE - math.log(count):
            value = max(log_bound, LEAST_LOG_FACTOR)
            return np.full(contraction.shape, value), np.full(contraction.shape, 1e-19)
    value, errors = theta_of_many(epsilon, contraction)
    is_raised = value + errors < LEAST_LOG_FACTOR
    return np.maximum(value, LEAST_LOG_FACTOR), np.where(is_raised, 0.0, errors)


def _stop_sums(
    log_b: FloatArray, b_error: FloatArray, may_stop: BoolArray, inflow: float, inflow_error: float
) -> tuple[FloatArray, FloatArray]:
    """Return log R_j (`log_scheduled_sum`) for the steps j of a block, and a bound on its error.

    R_j = e^{S_j} (Σ_{τ ≥ j} e^{−S_τ} + B R), with S_j the sum of log B over the steps after j in the block. The sum is
    over steps τ of the block that may be released, and B and R are those of the first step after the block.

    Args:
        log_b: log B of each step of the block.
        b_error: bounds on their errors.
        may_stop: mask of the steps that may be released.
        inflow: log(B R) of the first step after the block.
        inflow_error: bound on its error.
    """
    log_product = _suffix(log_b)  # S_j
    error = _suffix(b_error) + inflow_error
    remaining_steps = np.arange(log_b.size, 0.0, -1.0)
    if not may_stop.any():
        rounding = 4 * UNIT_ROUNDOFF * (remaining_steps * np.abs(log_product) + abs(inflow))
        return log_product + inflow, error + rounding
    log_terms = np.append(np.where(may_stop, -log_product, -np.inf), inflow)
    log_sums = running_log_sums(log_terms[::-1])[1:][::-1]
    rounding = 4 * UNIT_ROUNDOFF * remaining_steps * (1.0 + np.abs(log_product) + np.abs(log_sums))
    return log_product + log_sums, error + rounding


def _suffix(values: FloatArray) -> FloatArray:
    """Return Σ_{k>j} values_k."""
    sums = np.cumsum(values[::-1])[::-1]
    return np.append(sums[1:], 0.0)
