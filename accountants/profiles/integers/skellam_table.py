"""Skellam noise of variance μ, P(y) = e^{−μ} I_|y|(μ) with the modified Bessel function I, as a table.

With the ratios r_n = I_{n+1}(μ)/I_n(μ) in (0, 1), P(n) = P(0) r_0 ⋯ r_{n−1}. They follow from r_{n−1} = 1/(2n/μ + r_n),
downward from a ratio far outside. The recursion multiplies a relative error of r_n by r_n r_{n−1} < 1, and adds a few
roundings. So the error of each ratio is known. P(0) follows from the sum of all probabilities, which is 1.

The loss at y is F(|y − k|) − F(|y|) with F(n) = −Σ_{m < n} log r_m, which has positive terms.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_REACH = 900.0
"""Log probability, with its sign changed, beyond which outcomes are not listed."""
_LEAST_REACH = 256
"""Least number of listed outcomes on each side."""
_KEPT = 16
"""Number of stored tables, of some megabytes each."""


class SkellamTable(NamedTuple):
    """A table of the probabilities of Skellam noise at 0, …, R, which are also those at 0, …, −R.

    Attributes:
        falls: F(n) = log P(0) − log P(n) for n = 0, …, R, increasing.
        log_at_zero: log P(0), natural logarithm.
        log_beyond: upper bound on log P(noise > R).
        error: bound on the absolute error of each F(n), of each difference of two of them, and of log P(0).
    """

    falls: FloatArray
    log_at_zero: float
    log_beyond: float
    error: float

    @property
    def reach(self) -> int:
        """R, the largest listed outcome."""
        return self.falls.size - 1

    def losses(self, outcomes: FloatArray, shift: int) -> FloatArray:
        """Return the privacy losses log P(y) − log P(y − k) of noise against noise that is shifted by k.

        Args:
            outcomes: outcomes y, integers with |y| and |y − k| of at most R.
            shift: shift k.

        Returns:
            One loss for each outcome, in nats.
        """
        distance_from_zero = np.abs(outcomes).astype(np.int64)
        distance_from_shift = np.abs(outcomes - shift).astype(np.int64)
        return np.asarray(self.falls[distance_from_shift] - self.falls[distance_from_zero])


def reach_of(variance: float) -> int:
    """Return the largest outcome R that a table of Skellam noise lists, with P(noise > R) ≤ e^{−900}.

    Skellam noise is the difference of two independent Poisson variables of equal mean. R follows from Chernoff's bound:

        P(noise ≥ y) ≤ e^{√(y² + μ²) − μ − y arsinh(y/μ)}.

    Args:
        variance: variance μ > 0 of the noise.

    Returns:
        R, at least `_LEAST_REACH`.
    """

    def exponent(y: float) -> float:
        """Return Chernoff's exponent with its sign changed, without cancellation."""
        return y * math.asinh(y / variance) - y * y / (math.hypot(y, variance) + variance)

    high = float(_LEAST_REACH)
    while exponent(high) < _REACH:
        high *= 1.1
    return math.ceil(high)


def _ratios(variance: float, last: int) -> tuple[FloatArray, FloatArray]:
    """Return the ratios of neighbouring probabilities of Skellam noise, and bounds on their relative errors.

    The ratio r_n is P(n + 1)/P(n), for n = 0, …, `last`. Ratios are computed downward by r_{n−1} = 1/(2n/μ + r_n), a
    recurrence of Bessel functions that is stable in this direction. It starts far beyond `last` with a bound by Amos
    (1974).

    Args:
        variance: variance μ of the noise.
        last: largest index n of a ratio.

    Returns:
        The ratios and the bounds, each with `last` + 1 elements.
    """
    # Amos: μ/(n + 1 + √((n + 1)² + μ²)) ≤ r_n ≤ μ/(n + √(n² + μ²)). The first value is the lower bound.
    start = last + 64 + math.ceil(64.0 * math.sqrt(variance))
    ratio = variance / (start + 1.0 + math.hypot(start + 1.0, variance))
    largest_ratio = variance / (start + math.hypot(start, variance))
    # Amos' two bounds differ by the error of the first value, up to a few roundings.
    error = math.log(largest_ratio / ratio) + 16 * UNIT_ROUNDOFF

    # A step multiplies the relative error by r_n r_{n−1} < 1, and adds a few roundings.
    ratios, errors = np.empty(last + 1), np.empty(last + 1)
    for index in range(start, -1, -1):
        if index <= last:
            ratios[index], errors[index] = ratio, error
        if index > 0:
            next_ratio = 1.0 / (2.0 * index / variance + ratio)
            error = error * (1.0 + error) * ratio * next_ratio + 4 * UNIT_ROUNDOFF
            ratio = next_ratio
    return ratios, errors


@lru_cache(maxsize=_KEPT)
def skellam_table(variance: float, least_reach: int = 0) -> SkellamTable:
    """Return the table of the probabilities of Skellam noise of variance μ at 0, …, R.

    The probabilities follow from the ratios of neighbouring ones, and from their sum, which is 1.

    Args:
        variance: variance μ, from 2^−20 to 2^22.
        least_reach: least R, for sums over outcomes of a smaller probability.

    Returns:
        The table, with bounds on its errors and on the probability beyond R.
    """
    reach = max(reach_of(variance), least_reach)
    ratios, errors = _ratios(variance, reach)

    # log P(0) − log P(n), the sums of the logarithms of the ratios, in extended precision.
    log_ratios = -np.log(ratios[:reach]).astype(np.longdouble)
    falls = np.append(0.0, np.cumsum(log_ratios)).astype(np.float64)
    extended_roundoff = float(np.finfo(np.longdouble).eps)
    error_of_sums = reach * (extended_roundoff + UNIT_ROUNDOFF * float(np.max(-np.log(ratios))))
    # The errors of the ratios, of their sums in extended precision, and of the conversion to doubles. The factor 1.01
    # covers the logarithm of a ratio with a relative error.
    error = 1.01 * float(np.sum(errors)) + 4.0 * error_of_sums + 4 * UNIT_ROUNDOFF * float(falls[-1])

    # P(0) from the sum of all probabilities, from the smallest to the largest.
    total = 1.0 + 2.0 * float(np.sum(np.exp(-falls[:0:-1])))
    log_at_zero = -math.log(total)

    # Ratios decrease, so the probabilities beyond R are below a geometric series with the last ratio.
    log_series = math.log(ratios[-1] / (1.0 - ratios[-1]))
    log_beyond = log_at_zero - float(falls[-1]) + log_series + 4.0 * error
    return SkellamTable(falls, log_at_zero, log_beyond, 2.0 * error + 64 * UNIT_ROUNDOFF)


def log_tail(table: SkellamTable, first: int) -> float:
    """Return an upper bound on the log probability that Skellam noise is at least n.

    The listed probabilities P(m) = P(0) e^{−F(m)} from m = n on are added up, with F(m) in `falls`. `log_beyond` bounds
    the log probability beyond the table. A margin of four times `error` covers the errors of P(0) and F(m).

    Args:
        table: probabilities of the noise.
        first: n ≥ 1.

    Returns:
        The natural logarithm, rounded up.
    """
    listed = float(np.logaddexp.reduce(table.log_at_zero - table.falls[first:], initial=-np.inf))
    return float(np.logaddexp(listed + 4.0 * table.error, table.log_beyond))


def log_unlisted(variance: float, shift: int, coordinates: int) -> tuple[float, float]:
    """Return log S and a bound on log(1 − S), where S is the probability that a table lists all coordinates of noise.

    The table lists outcomes from −R to R. A coordinate is listed if it and its shifted value are among them. A union
    bound over the coordinates gives 1 − S. S is the same for the noise and for its shift.

    Args:
        variance: variance μ of the Skellam noise of each coordinate.
        shift: largest shift of a coordinate, at most R.
        coordinates: number of coordinates that are shifted, at least 1.

    Returns:
        log S, and an upper bound on log(1 − S). The first one is −∞ if the second one is 0.
    """
    table = skellam_table(variance)
    log_one = float(np.logaddexp(log_tail(table, table.reach - shift + 1), table.log_beyond))
    log_any = min(math.log(coordinates) + log_one, 0.0)
    log_all_listed = math.log1p(-math.exp(log_any)) if log_any < 0.0 else -math.inf
    return log_all_listed, log_any
