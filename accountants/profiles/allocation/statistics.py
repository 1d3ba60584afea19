"""The sum of a statistic of all batches, as that of a test of k of t batches.

Let f(y) be the ratio of N(c, 1) to N(0, 1) at an output y, capped, or log(1 + (k/t)(X − 1)) with this ratio X. It is
rounded to a whole number of steps h. Other noise has other ratios, and for a replaced unit f is a difference of two.
The statistic Σ f(y_i) is a whole number of steps. It depends on the outputs, but not on their order. Under Q all
outputs are N(0, 1). Under P a random set of k outputs is N(c, 1), and the sum is distributed as if these were the last
k. So its masses under P and Q are attained. Sums must not be rounded again after some outputs are added: the result
would depend on the order of the outputs, and under P on which of them are the k.

Sums outside a window are left out. The masses are then lower bounds, and with the mass that was left out upper bounds.
A loss is understated by an upper bound in its denominator, in both directions.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.gaussian_ratio import gaussian_ratio
from epsilond.accountants.profiles.allocation.ratios import sum_copies
from epsilond.accountants.profiles.binned import ACCURACY, Mixture, Noise, finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_KEPT = 64  # number of cached pairs, of about a thousand values each
_LEAF_CELLS = 4000  # number of cells of one output
_STEPS_PER_CELL = 6  # number of steps of the window of the sum, per requested cell
_DEVIATIONS = 26.0  # width of the window in standard deviations of the sum, from which the step is chosen
_LEFT_OUT = 1e-40  # largest mass that is left out at either end of a sum
_LEAST_LOG_MASS = -650.0  # log of the least mass of a cell of one output
_UNDERFLOW = 1e-290  # bound on the total of all products that underflow in a sum


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """Lower bounds on the probabilities of an integer-valued random variable, in a window of consecutive integers.

    Attributes:
        least: first integer of the window.
        masses: lower bounds on the probabilities of the integers from `least` on.
        left_out: upper bound on the probability outside the window.
        error: bound on the relative error of every mass.
    """

    least: int
    masses: FloatArray
    left_out: float
    error: float

    def add(self, other: LatticeSum, cells: int) -> LatticeSum:
        """Return the distribution of the sum of two independent integer-valued variables, by convolution.

        Negligible masses at both ends are left out, and added to `left_out`.

        Args:
            other: the second variable.
            cells: not used; the argument belongs to the interface of sums. Here the mass left out limits the window.
        """
        del cells
        masses = np.convolve(self.masses, other.masses)
        # Each mass is a sum of products, whose number is the smaller size. The 4 is for the other operations.
        terms = min(self.masses.size, other.masses.size) + 4.0
        error = (1.0 + self.error) * (1.0 + other.error) * (1.0 + terms * UNIT_ROUNDOFF) - 1.0
        first = int(np.searchsorted(np.cumsum(masses), _LEFT_OUT))
        last = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _LEFT_OUT))
        outside = float(masses[:first].sum() + masses[last:].sum())
        if first >= last:  # all mass is left out
            first, last = 0, 1
            outside, masses = float(masses.sum()), np.zeros(1)
        return LatticeSum(
            least=self.least + other.least + first,
            masses=masses[first:last],
            # An upper bound, although the masses outside may be too small by their relative error.
            left_out=(self.left_out + other.left_out + outside + _UNDERFLOW) * (1.0 + 2.0 * error),
            error=error,
        )

    def leave_out(self, mass: float) -> LatticeSum:
        """Return the same variable with a larger bound on the probability outside the window.

        Args:
            mass: number that is added to the bound.
        """
        return replace(self, left_out=self.left_out + mass)

    def on(self, least: int, size: int) -> FloatArray:
        """Return the masses of consecutive integers; 0 outside the window.

        Args:
            least: first integer, at most that of the window.
            size: number of integers; they must contain the window.
        """
        start = self.least - least
        return np.pad(self.masses, (start, size - start - self.masses.size))


class SeveralBatchesLaw(NamedTuple):
    """Distributions of a test statistic for a unit (record or client) that is in several of many batches.

    P is the distribution with the contribution of the unit, and Q the one without it or with its replacement.

    Attributes:
        outputs: the statistic of an output with the contribution, and that of one without it or with its replacement.
        sums: the sum of the statistics of all outputs, under P and under Q.
    """

    outputs: tuple[LatticeSum, LatticeSum]
    sums: tuple[LatticeSum, LatticeSum]


class OutputCells(NamedTuple):
    """Probabilities of cells, that is, sets of merged outputs, of one batch, for three kinds of batches.

    The unit is the record or client that is protected. Its contribution is in randomly chosen batches.

    Attributes:
        present: probabilities of the cells for a batch with the contribution.
        replaced: probabilities for a batch with the replacing contribution; those of `absent` if the unit is removed.
        absent: probabilities for a batch without either.
        error: bound on the relative error of every probability.
    """

    present: FloatArray
    replaced: FloatArray
    absent: FloatArray
    error: float

    def capped_gain(self, cap: float) -> FloatArray:
        """Return the difference of two likelihood ratios in each cell, each of which is limited by a cap.

        They are the ratios of the contribution and of the replacing one, compared with neither.

        Args:
            cap: largest value of a ratio.

        Returns:
            One difference for each cell.
        """
        ratio_with = self.present / self.absent
        ratio_replaced = self.replaced / self.absent
        return np.asarray(np.minimum(ratio_with, cap) - np.minimum(ratio_replaced, cap))

    def log_gain(self, rate: float) -> FloatArray:
        """Return the log likelihood ratio of the unit's contribution to the replacing one, in each cell of outputs.

        A batch has the contribution with a given probability. Otherwise it has neither, with the distribution `absent`.

        Args:
            rate: probability of the contribution in a batch, below 1.

        Returns:
            One log likelihood ratio, in nats, for each cell.
        """
        # The likelihood ratios of a batch that certainly has the contribution, or the replacing one.
        ratio_with = self.present / self.absent
        ratio_replaced = self.replaced / self.absent
        return np.asarray(np.log1p(rate * (ratio_with - 1.0)) - np.log1p(rate * (ratio_replaced - 1.0)))


def several_batches_law(shift: float, steps: int, times_chosen: int, cells: int, reach: float) -> SeveralBatchesLaw:
    """Return the distributions of a test statistic for a Gaussian contribution that is in k of t batches.

    The statistic is a sum over all outputs. With the likelihood ratio X of an output with and without the contribution,
    the terms are X − 1 with a cap on X; or, for `reach` = 0, log(1 + (k/t)(X − 1)).

    Args:
        shift: norm of the contribution, in standard deviations of the noise.
        steps: number t of batches.
        times_chosen: number k of batches with the contribution.
        cells: a sixth of the number of steps to which the statistic is rounded.
        reach: the cap is X at the output `shift` + `reach`, in standard deviations of the noise.

    Returns:
        The distributions of the statistic of one output, and of its sum over all outputs.
    """
    ratio = gaussian_ratio(shift, _LEAF_CELLS, "below")
    error = ratio.weight_error + ratio.place_error + 4 * UNIT_ROUNDOFF
    present, absent = ratio.weights * ratio.places, ratio.weights
    output = OutputCells(present, absent, absent, error)
    if reach > 0.0:
        ratio_minus_one = np.expm1(np.log(ratio.places))
        cap_minus_one = np.expm1(shift * (shift + reach) - 0.5 * shift * shift)
        gain = np.minimum(ratio_minus_one, cap_minus_one)
    else:
        gain = output.log_gain(times_chosen / steps)
    return sums_of_gains(output, gain, steps, times_chosen, cells)


def sums_of_gains(
    output: OutputCells, gain: FloatArray, steps: int, times_chosen: int, cells: int
) -> SeveralBatchesLaw:
    """Return the distributions of the sum of a test statistic over t outputs on two neighbouring data sets.

    k of the outputs have the contribution of the protected unit under P, and its replacement under Q. The statistic is
    rounded to multiples of a small number, so that its sums are integers.

    Args:
        output: probabilities of one output in cells, that is, sets of merged outputs.
        gain: value of the statistic in each cell.
        steps: number t of outputs.
        times_chosen: number k < t of outputs with the contribution.
        cells: resolution of the rounding. An interval that contains nearly all sums has 6 `cells` multiples.

    Returns:
        The distributions of the statistic of one output, and of its sum over all outputs.
    """
    columns = (output.present, output.replaced, output.absent)
    window = _window_of_sum(columns, gain, steps, times_chosen)
    number = np.rint(gain * (_STEPS_PER_CELL * cells / window)).astype(np.int64)
    least = int(number.min())
    error = output.error + number.size * UNIT_ROUNDOFF  # of sums of up to `number.size` probabilities
    present, replaced, absent = (
        LatticeSum(least, np.asarray(np.bincount(number - least, weights), np.float64), 0.0, error)
        for weights in columns
    )
    # t − k outputs have neither the contribution nor its replacement.
    sum_of_absent = sum_copies(absent, steps - times_chosen, cells)
    sum_under_p = sum_of_absent.add(sum_copies(present, times_chosen, cells), cells)
    sum_under_q = sum_of_absent.add(sum_copies(replaced, times_chosen, cells), cells)
    return SeveralBatchesLaw(outputs=(present, replaced), sums=(sum_under_p, sum_under_q))


def _window_of_sum(
    columns: tuple[FloatArray, FloatArray, FloatArray], gain: FloatArray, steps: int, times_chosen: int
) -> float:
    """Return the width of an interval that contains nearly every sum of a test statistic over all outputs.

    It is `_DEVIATIONS` standard deviations of the sum, the difference of its means on two neighbouring data sets, and
    twice the largest term.

    Args:
        columns: probabilities of the cells of an output with the contribution of the protected unit, with its
            replacement, and with neither.
        gain: value of the statistic in each cell.
        steps: number of outputs.
        times_chosen: number of outputs with the contribution.

    Returns:
        The width, above 0.
    """
    means = [float(weights @ gain) for weights in columns]
    variances = [float(weights @ (gain - mean) ** 2) for weights, mean in zip(columns, means, strict=True)]
    mean_with, mean_replaced, _ = means
    _, _, variance_without = variances
    deviation = np.sqrt((steps - times_chosen) * variance_without + times_chosen * max(variances))
    difference_of_means = times_chosen * (mean_with - mean_replaced)
    return float(_DEVIATIONS * deviation + difference_of_means + 2.0 * float(np.abs(gain).max()))


@functools.lru_cache(maxsize=_KEPT)
def several_batches_pair(shift: float, steps: int, times_chosen: int, cells: int, reach: float) -> Pair:
    """Return a pair for lower bounds on δ, for a Gaussian contribution in k randomly chosen batches of t.

    The distributions are those of a test statistic of all outputs, with and without the contribution.

    Args:
        shift: norm of the contribution, in standard deviations of the noise.
        steps: number t of batches.
        times_chosen: number k of batches with the contribution.
        cells: a sixth of the number of values to which the statistic is rounded.
        reach: 0 for the log likelihood ratio; otherwise likelihood ratios are limited to that of the output
            `shift` + `reach` (`several_batches_law`).

    Returns:
        Two distributions with a hockey-stick divergence of at most δ of the mechanism at every ε.
    """
    # With public batches, δ is at least as large, because the hockey-stick divergence is jointly convex.
    public = gaussian_pair(shift * math.sqrt(times_chosen) * (1.0 + 8 * UNIT_ROUNDOFF))
    law = several_batches_law(shift, steps, times_chosen, cells, reach)
    return replace(pair_of_sums(law.sums), below=public)


@functools.lru_cache(maxsize=_KEPT)
def noisy_batches_pair(
    noise: Noise, shifts: tuple[float, float], steps: int, times_chosen: int, cells: int, cap: float
) -> Pair | None:
    """Return the distributions of a test statistic of t noisy sums, for lower bounds on δ. k sums have a contribution.

    Args:
        noise: distribution of the noise of each sum.
        shifts: shift of a sum by the contribution of the protected unit, and by its replacement; 0 for a removed unit.
        steps: number t of sums.
        times_chosen: number k of sums with the contribution.
        cells: resolution of the statistic. An interval that contains nearly all its values has 6 `cells` steps.
        cap: largest likelihood ratio in the statistic. If it is 0, the statistic is the log of the likelihood ratio of
            independent batches.

    Returns:
        Two distributions with a hockey-stick divergence of at most δ of the mechanism. None if the shifts are so large
        that most outputs have no likelihood ratio in the range of doubles, or if the statistic is constant.
    """
    output, outside = _noise_cells(noise, shifts)
    if steps * outside >= 0.5:
        return None
    return batches_pair(output, steps, times_chosen, cells, cap, outside)


def batches_pair(
    output: OutputCells, steps: int, times_chosen: int, cells: int, cap: float, outside: float = _UNDERFLOW
) -> Pair | None:
    """Return an attained pair of a unit in k of t batches, from the probabilities of one output.

    The unit is the record or client that is protected.

    Args:
        output: probabilities of one output in cells, that is, sets of merged outputs.
        steps: number t of batches.
        times_chosen: number k of batches with the unit.
        cells: a sixth of the number of steps to which the statistic is rounded.
        cap: largest likelihood ratio in the statistic. If it is 0, the statistic is the log of the likelihood ratio of
            independent batches.
        outside: upper bound on the probability outside the cells.

    Returns:
        Two distributions with a hockey-stick divergence of at most δ of the mechanism. None if the statistic has the
        same value in all cells, so that it distinguishes nothing.
    """
    gain = output.capped_gain(cap) if cap > 0.0 else output.log_gain(times_chosen / steps)
    if gain.min() == gain.max():
        return None
    law = sums_of_gains(output, gain, steps, times_chosen, cells)
    # Outputs outside the cells are left out of every sum. Twice the union bound exceeds it with its rounding.
    left_out = 2.0 * steps * outside
    sum_under_p, sum_under_q = law.sums
    return pair_of_sums((sum_under_p.leave_out(left_out), sum_under_q.leave_out(left_out)))


def _noise_cells(noise: Noise, shifts: tuple[float, float]) -> tuple[OutputCells, float]:
    """Return the probabilities of cells of one noisy output, and an upper bound on the probability outside of them.

    A cell is an interval of outputs. Cells with almost no probability are left out.

    Args:
        noise: distribution of the noise.
        shifts: shifts of the output by the contribution and by the replacing one.

    Returns:
        The probabilities of the cells with the contribution, with the replacing one and with neither, and the bound.
    """
    means = (*shifts, 0.0)
    edges = noise.edges(means)
    log_masses = [noise.log_cells(Mixture((mean,), (0.0,)), edges) for mean in means]
    is_used = np.min(log_masses, axis=0) > _LEAST_LOG_MASS
    masses = [np.exp(column) for column in log_masses]
    outside = max(float(column[~is_used].sum()) for column in masses) + _UNDERFLOW
    present, replaced, absent = (column[is_used] for column in masses)
    return OutputCells(present, replaced, absent, noise.rounding(edges)), outside


def pair_of_sums(sums: tuple[LatticeSum, LatticeSum]) -> Pair:
    """Return a pair of distributions for lower bounds on δ, from the distributions of an integer-valued statistic.

    A statistic of the output is post-processing, so that its δ is at most that of the output.

    Args:
        sums: the statistic under P and under Q.

    Returns:
        Distributions P and Q with a hockey-stick divergence of at most that of the outputs.
    """
    p_sum, q_sum = sums
    # Extend both distributions to one window of integers, with masses of 0.
    least = min(p_sum.least, q_sum.least)
    size = max(each.least - least + each.masses.size for each in sums)
    p, q = p_sum.on(least, size), q_sum.on(least, size)

    accuracy = max(p_sum.error, q_sum.error, ACCURACY) + 4 * UNIT_ROUNDOFF
    # In each direction, the distribution in the denominator of the likelihood ratio is rounded up.
    forward = _one_sided_pair(p, q, q_sum.left_out, accuracy).forward
    backward = _one_sided_pair(q, p, p_sum.left_out, accuracy).forward
    return Pair(forward, backward)


def _one_sided_pair(first: FloatArray, second: FloatArray, left_out: float, accuracy: float) -> Pair:
    """Return a pair of distributions for a lower bound on δ of the first against the second, in this order only.

    The probabilities of the second distribution are rounded up, which understates every privacy loss.

    Args:
        first: lower bounds on the probabilities under the first distribution.
        second: probabilities under the second distribution, each too small by `left_out` at most.
        left_out: probability that is left out of the second distribution.
        accuracy: bound on the relative error of every probability.
    """
    is_possible = first > 0.0
    return finite_pair(np.log(first[is_possible]), np.log(second[is_possible] + left_out), accuracy)
