"""The sum of the likelihood ratios of all batches, as the statistic of a test of k of t batches.

Let f(y) be the ratio of N(c, 1) to N(0, 1) at an output y. It is capped, and rounded to a whole number of steps h.
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
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.gaussian_ratio import gaussian_ratio
from epsilond.accountants.profiles.allocation.ratios import sum_copies
from epsilond.accountants.profiles.binned import ACCURACY, finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_KEPT = 64
"""Number of stored pairs, of about a thousand atoms each."""
_LEAF_CELLS = 4000
"""Number of cells of one output."""
_STEPS_PER_CELL = 6
"""Number of steps of the window of the sum, per requested cell."""
_DEVIATIONS = 26.0
"""Width of the window in standard deviations of the sum, from which the step is chosen."""
_LEFT_OUT = 1e-40
"""Largest mass that is left out at either end of a sum."""
_UNDERFLOW = 1e-290
"""Bound on the total of all products that underflow in a sum."""


@dataclass(frozen=True, eq=False)
class LatticeSum:
    """Lower bounds on the masses of a whole number, in a window.

    Attributes:
        least: first number of the window.
        masses: masses of the numbers from `least` on.
        left_out: upper bound on the mass outside the window.
        error: relative error of every mass.
    """

    least: int
    masses: FloatArray
    left_out: float
    error: float

    def add(self, other: LatticeSum, cells: int) -> LatticeSum:
        """Return the sum of two independent numbers.

        Args:
            other: the second number.
            cells: not used; windows are chosen by their mass.
        """
        del cells
        masses = np.convolve(self.masses, other.masses)
        terms = min(self.masses.size, other.masses.size) + 4.0
        first = int(np.searchsorted(np.cumsum(masses), _LEFT_OUT))
        last = masses.size - int(np.searchsorted(np.cumsum(masses[::-1]), _LEFT_OUT))
        outside = float(masses[:first].sum() + masses[last:].sum())
        error = (1.0 + self.error) * (1.0 + other.error) * (1.0 + terms * UNIT_ROUNDOFF) - 1.0
        return LatticeSum(
            least=self.least + other.least + first,
            masses=masses[first:last],
            left_out=(self.left_out + other.left_out + outside + _UNDERFLOW) * (1.0 + 2.0 * error),
            error=error,
        )

    def on(self, least: int, size: int) -> FloatArray:
        """Return the masses of `size` numbers from `least` on.

        Args:
            least: first number, at most that of the window.
            size: how many numbers, with all of the window.
        """
        start = self.least - least
        return np.pad(self.masses, (start, size - start - self.masses.size))


class SeveralBatchesLaw(NamedTuple):
    """The statistic of one output and its sum over all, under P and under Q. `outputs` is (included, excluded)."""

    outputs: tuple[LatticeSum, LatticeSum]
    sums: tuple[LatticeSum, LatticeSum]


def several_batches_law(shift: float, steps: int, times_chosen: int, cells: int, reach: float) -> SeveralBatchesLaw:
    """Return the distributions of the statistic, for a contribution that is in k of t batches, k < t.

    Args:
        shift: norm of the contribution over the standard deviation of the noise.
        steps: number of batches t.
        times_chosen: number k of batches with the contribution.
        cells: a sixth of the number of steps of the window.
        reach: output beyond `shift` from which the ratio is replaced by a cap, in standard deviations.
    """
    ratio = gaussian_ratio(shift, _LEAF_CELLS, "below")
    error = ratio.weight_error + ratio.place_error + 4 * UNIT_ROUNDOFF
    gain = np.minimum(np.expm1(np.log(ratio.places)), np.expm1(shift * (shift + reach) - 0.5 * shift * shift))
    first, second = ratio.weights * ratio.places, ratio.weights
    means = [float(weights @ gain) for weights in (first, second)]
    variances = [float(weights @ (gain - mean) ** 2) for weights, mean in zip((first, second), means, strict=True)]
    deviation = np.sqrt((steps - times_chosen) * variances[1] + times_chosen * max(variances))
    window = _DEVIATIONS * deviation + times_chosen * (means[0] - means[1]) + 2.0 * float(gain.max())
    number = np.rint(gain * (_STEPS_PER_CELL * cells / window)).astype(np.int64)
    least = int(number.min())
    included, excluded = (
        LatticeSum(
            least,
            np.asarray(np.bincount(number - least, weights), np.float64),
            0.0,
            error + number.size * UNIT_ROUNDOFF,
        )
        for weights in (first, second)
    )
    rest = sum_copies(excluded, steps - times_chosen, cells)
    return SeveralBatchesLaw(
        outputs=(included, excluded),
        sums=(
            rest.add(sum_copies(included, times_chosen, cells), cells),
            rest.add(sum_copies(excluded, times_chosen, cells), cells),
        ),
    )


@functools.lru_cache(maxsize=_KEPT)
def several_batches_pair(shift: float, steps: int, times_chosen: int, cells: int, reach: float) -> Pair:
    """Return an attained pair of a contribution that is in k of t batches, k < t.

    Args:
        shift: norm of the contribution over the standard deviation of the noise.
        steps: number of batches t.
        times_chosen: number k of batches with the contribution.
        cells: a sixth of the number of steps of the window.
        reach: output beyond `shift` from which the ratio is replaced by a cap, in standard deviations.
    """
    p_sum, q_sum = several_batches_law(shift, steps, times_chosen, cells, reach).sums
    least = min(p_sum.least, q_sum.least)
    size = max(each.least - least + each.masses.size for each in (p_sum, q_sum))
    accuracy = max(p_sum.error, q_sum.error, ACCURACY) + 4 * UNIT_ROUNDOFF
    p, q = p_sum.on(least, size), q_sum.on(least, size)
    # By joint convexity, the pair of public batches dominates.
    public = gaussian_pair(shift * math.sqrt(times_chosen) * (1.0 + 8 * UNIT_ROUNDOFF))
    return Pair(
        _direction(p, q, q_sum.left_out, accuracy).forward,
        _direction(q, p, p_sum.left_out, accuracy).forward,
        below=public,
    )


def _direction(first: FloatArray, second: FloatArray, left_out: float, accuracy: float) -> Pair:
    """Return a pair whose first direction is a lower bound.

    Args:
        first: lower bounds on the masses under the first distribution.
        second: masses under the second distribution, each too small by `left_out` at most.
        left_out: mass that is left out of the second distribution.
        accuracy: relative error of every mass.
    """
    is_possible = first > 0.0
    return finite_pair(np.log(first[is_possible]), np.log(second[is_possible] + left_out), accuracy)
