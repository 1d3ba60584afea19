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
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.thetas.many_shifts import ROUNDING, log_rest, theta_of_many, theta_with_error

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

CHUNK = 2**14
"""Number of steps that are evaluated at once; it bounds the memory."""
BLOCK = 2**10
"""Number of stops in a block of a sum. The error of a running sum of logarithms grows with the square of its length."""
LEAST_LOG_FACTOR = -1e3
"""Least logarithm of a factor. A smaller factor is raised to e^−1000: the bound remains valid, and products finite."""
NEGLIGIBLE = 45.0
"""Distance of logarithms, in nats, from which on a number is negligible: e^−45 is 3e-20, far below a rounding."""


class ShiftSequence(Protocol):
    """Interface to the shifts of the noisy steps of a run. Steps are counted from 1.

    A shift is a distance of two Gaussian means, in standard deviations of the noise. Step t has a sensitivity shift
    r_s(t), by which a use of the record in this step moves its output. It also has a contraction shift r_c(t), which
    determines the factor by which the step contracts the divergence from an earlier use.
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
        """Return the least contraction shift of several consecutive steps.

        Args:
            first: number of the first of these steps.
            last: number of the last of these steps.

        Returns:
            The least r_c.
        """

    def shifts(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Return the sensitivity shifts and the contraction shifts of several consecutive steps.

        Their relative error is at most eight units of roundoff.

        Args:
            first: number of the first of these steps.
            last: number of the last of these steps.

        Returns:
            r_s and r_c of each of these steps.
        """


def log_scheduled_sum(epsilon: float, steps: ShiftSequence, first_stop: int, *, worst: bool) -> Interval:
    """Enclose the log of a sum of products of contraction factors over the steps of a run, or of its largest term.

    Let θ_ε(r) be the hockey-stick divergence of N(r, 1) from N(0, 1) at e^ε. The sum is:

        Σ_j A_j R_j,   A_j = θ_ε(r_s(j)),   R_j = Σ_{τ ≥ max(j, first_stop)} Π_{j<k≤τ} B_k,   B_k = θ_ε(r_c(k)).

    A_j is the divergence from a use of the record at step j, and B_k its contraction by step k. R_j is the sum of its
    effects on the releases at steps τ. As R_j is B_{j+1} R_{j+1}, plus 1 if step j may be released, one backward pass
    suffices. It ends early if the remaining steps are negligible, and adds a bound on them.

    Args:
        epsilon: ε, in nats.
        steps: shifts r_s and r_c of the steps of the run.
        first_stop: first step that may be released.
        worst: whether to take the largest term instead of the sum.

    Returns:
        The lower and the upper bound on the logarithm.
    """
    sums = _BackwardPass(epsilon, steps, first_stop, worst)
    for last in range(steps.count, 0, -CHUNK):
        first = max(1, last - CHUNK + 1)
        least_contraction = steps.least_contraction(first, last)
        distance_from_one = _negligible_rest(epsilon, least_contraction, steps.count)
        are_terms_equal = distance_from_one is not None and last < first_stop and steps.one_sensitivity
        if distance_from_one is not None and are_terms_equal and not worst:
            sums.add_equal_terms(last - first + 1, distance_from_one)
            continue
        sums.add_chunk(first, last, distance_from_one)
        if sums.bound_negligible_steps(first):
            break
    chunks = steps.count // CHUNK
    # More than the roundings of the terms, and of the sum of all chunks.
    slack = (128.0 + 4.0 * chunks) * UNIT_ROUNDOFF * (1.0 + abs(sums.total_upper))
    return Interval(sums.total_lower - slack, sums.total_upper + slack)


class _BackwardPass:
    """The state of a pass over the steps of a run from the last to the first, which adds up terms A_j R_j.

    A_j is the divergence from a use of the record at step j, and B_j the factor by which step j contracts earlier ones.
    R_j is the sum of the contracted effects on releases from step j on (`log_scheduled_sum`).

    Attributes:
        total_lower, total_upper: bounds on the log of the sum of all terms so far, or of the largest one.
        inflow: log(B_j R_j) of the latest step that was added; −inf before the first one.
        inflow_error: bound on its error.
    """

    def __init__(self, epsilon: float, steps: ShiftSequence, first_stop: int, worst: bool) -> None:
        self._epsilon, self._steps, self._first_stop, self._takes_maximum = epsilon, steps, first_stop, worst
        self.total_lower = self.total_upper = self.inflow = -math.inf
        self.inflow_error = 0.0
        (value,), (error,) = theta_with_error(epsilon, np.asarray([steps.largest_sensitivity]))
        self._log_largest, self._largest_error = value, error

    def add_equal_terms(self, length: int, distance_from_one: float) -> None:
        """Add the terms A_j R_j of consecutive steps j, which are equal up to a negligible error.

        A_j is the divergence from a use of the record at step j, and R_j the sum of its effects on later releases,
        contracted by a factor B_k at each step k in between. None of these steps is released, all A_j are equal, and
        all B_j are negligibly close to 1. So all R_j are equal too.

        Args:
            length: number of steps.
            distance_from_one: largest 1 − B_j.
        """
        # |log(1 − x)| is at most 2x for a tiny x = 1 − B. This error is added for every step.
        self.inflow_error += 2.0 * distance_from_one * length
        # `inflow` is the log of B R of the step after these ones, which is also R of each of them.
        log_sum_of_terms = self._log_largest + self.inflow + math.log(length)
        lower = log_sum_of_terms - self._largest_error - self.inflow_error
        upper = log_sum_of_terms + self._largest_error + self.inflow_error
        self.total_lower = _log_add(self.total_lower, lower)
        self.total_upper = _log_add(self.total_upper, upper)

    def add_chunk(self, first: int, last: int, distance_from_one: float | None) -> None:
        """Add the terms A_j R_j of consecutive steps j to the bounds on the sum of all terms.

        A_j is the divergence from a use of the record at step j, and R_j the sum of its contracted effects on releases.
        R_j is computed in blocks of steps, from the last block to the first.

        Args:
            first: the first step.
            last: the last step.
            distance_from_one: largest 1 − B of the contraction factors B of these steps; None if not negligible.
        """
        sensitivity, contraction = self._steps.shifts(first, last)
        log_a, a_error = theta_of_many(self._epsilon, sensitivity)
        stops_before = first > self._first_stop
        log_b, b_error = _factors(
            self._epsilon, contraction, distance_from_one, self._steps.count, stops_before=stops_before
        )

        # A step that may be released ends a product of factors. Without one, the chunk is a single block.
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
        """Add some terms to the bounds on the sum of all terms; or update those on the largest term, if it is wanted.

        Args:
            log_terms: logarithms of the terms.
            errors: bounds on the absolute errors of these logarithms.
        """
        lower, upper = log_terms - errors, log_terms + errors
        if self._takes_maximum:
            self.total_lower = max(self.total_lower, float(lower.max()))
            self.total_upper = max(self.total_upper, float(upper.max()))
        else:
            self.total_lower = _log_add(self.total_lower, log_sum(lower))
            self.total_upper = _log_add(self.total_upper, log_sum(upper))

    def bound_negligible_steps(self, first: int) -> bool:
        """Add a bound on the terms of all steps before a given one to the upper bound, if these terms are negligible.

        The term of step j is A_j R_j, with the divergence A_j from a use of the record at step j. R_j is the sum of its
        effects on releases, each contracted by the factors B of the steps in between. Before the first release, R_j
        does not increase towards earlier steps. So these terms are at most the largest A times B R of the given step.

        Args:
            first: the given step, which was added last.

        Returns:
            True if the earlier steps are negligible, so that no further step has to be added.
        """
        if not 1 < first <= self._first_stop:
            return False
        log_largest = float(self._log_largest + self._largest_error)
        # There are fewer than `first` earlier terms.
        log_bound = self.inflow + self.inflow_error + log_largest + math.log(first)
        if not log_bound < self.total_lower - NEGLIGIBLE:
            return False
        self.total_upper = _log_add(self.total_upper, log_bound)
        return True


def _log_add(first: float, second: float) -> float:
    """Return log(e^a + e^b) for two numbers a = `first` and b = `second`, each of which may be −inf."""
    return float(np.logaddexp(first, second))


def _negligible_rest(epsilon: float, least_contraction: float, count: int) -> float | None:
    """Return the largest distance 1 − B of contraction factors B from 1, if it is negligible.

    It is negligible if `count` such numbers add up to less than e^−45. The factor of a step is B = θ_ε(r_c), the
    hockey-stick divergence of N(r_c, 1) from N(0, 1) at e^ε.

    Args:
        epsilon: ε, in nats.
        least_contraction: least contraction shift r_c of the steps, in standard deviations of the noise.
        count: number of steps of the run.

    Returns:
        The largest 1 − B, rounded up; None if it is not negligible.
    """
    (log_complement,) = log_rest(epsilon, np.asarray([least_contraction]))
    log_largest = float(log_complement) + ROUNDING
    if not log_largest < -NEGLIGIBLE - math.log(count):
        return None
    return math.exp(log_largest)


def _factors(
    epsilon: float, contraction: FloatArray, distance_from_one: float | None, count: int, *, stops_before: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the log contraction factors log B = log θ_ε(r_c) of a chunk of steps, with bounds on their errors.

    θ_ε(r) is the hockey-stick divergence of N(r, 1) from N(0, 1) at e^ε. If all factors are negligibly close to 1, they
    count as 1. If all are negligibly close to 0, the largest one may replace all. This requires that these steps and
    the one before may be released: the factors then only enter R_j = 1 + B_{j+1} R_{j+1}, the sum of the effects of a
    step on releases, where the second term hardly matters.

    Args:
        epsilon: ε, in nats.
        contraction: contraction shifts r_c of the chunk, in standard deviations of the noise.
        distance_from_one: largest 1 − B if it is negligible; None otherwise.
        count: number of steps of the run.
        stops_before: whether the step before the chunk may be released.

    Returns:
        log B of each step, at least `LEAST_LOG_FACTOR`, and a bound on its absolute error.
    """
    if distance_from_one is not None:
        return np.zeros(contraction.shape), np.full(contraction.shape, 2.0 * distance_from_one)

    if stops_before:
        (largest,), (error,) = theta_with_error(epsilon, contraction.max(keepdims=True))
        log_bound = largest + error
        if log_bound < -NEGLIGIBLE - math.log(count):
            value = max(log_bound, LEAST_LOG_FACTOR)
            # The replacement changes R by less than e^−45 = 3e-20 of it, for which 1e-19 is charged.
            return np.full(contraction.shape, value), np.full(contraction.shape, 1e-19)

    values, errors = theta_of_many(epsilon, contraction)
    is_raised = values + errors < LEAST_LOG_FACTOR
    return np.maximum(values, LEAST_LOG_FACTOR), np.where(is_raised, 0.0, errors)


def _stop_sums(
    log_b: FloatArray, b_error: FloatArray, may_stop: BoolArray, inflow: float, inflow_error: float
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the summed effects R_j of each step j of a block on all releases from this step on.

    Let S_j be the sum of the log contraction factors log B_k over the steps k > j of the block. Then:

        R_j = e^{S_j} (Σ_{τ ≥ j} e^{−S_τ} + B R),

    where τ are the steps of the block that may be released. B and R are those of the first step after the block.

    Args:
        log_b: log of the contraction factor B of each step of the block.
        b_error: bounds on their errors.
        may_stop: mask of the steps that may be released.
        inflow: log(B R) of the first step after the block.
        inflow_error: bound on its error.

    Returns:
        log R_j of each step of the block, and a bound on its absolute error.
    """
    log_product = _sums_after(log_b)  # S_j
    error = _sums_after(b_error) + inflow_error
    remaining_steps = np.arange(log_b.size, 0.0, -1.0)
    if not may_stop.any():
        # Each addition to S_j has a rounding error of at most one unit roundoff relative to S_j.
        rounding = 4 * UNIT_ROUNDOFF * (remaining_steps * np.abs(log_product) + abs(inflow))
        return log_product + inflow, error + rounding

    # Running sums from the last step of the block to the first, of which B R is the first term.
    log_terms = np.append(np.where(may_stop, -log_product, -np.inf), inflow)
    log_sums = running_log_sums(log_terms[::-1])[1:][::-1]
    # Each addition to both running sums has a rounding error of a few units relative to them.
    rounding = 4 * UNIT_ROUNDOFF * remaining_steps * (1.0 + np.abs(log_product) + np.abs(log_sums))
    return log_product + log_sums, error + rounding


def _sums_after(values: FloatArray) -> FloatArray:
    """Return for each position of an array the sum of the values after it, which is 0 for the last one."""
    sums = np.cumsum(values[::-1])[::-1]
    return np.append(sums[1:], 0.0)
