"""The number of clones of a shuffled report: its distribution, and ranges of its values with their probabilities.

A clone is another client's report that looks like the victim's. Each of the n − 1 other clients sends one with
probability r, so their number is C ~ Bin(n − 1, r).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.binomial_law import Binomial
from epsilond.accountants.numerics.special import log_difference

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import IntArray

_REACH = 40.0
"""Standard deviations of C on each side within which its values are distinguished; beyond, C is rounded."""
MOST_VALUES = 1 << 16
"""Largest number of values of C that have a range of their own."""


class CountRanges(NamedTuple):
    """A partition of the possible numbers of clones into ranges of consecutive values, with their probabilities.

    A clone is another client's report that looks like that of the protected client.

    Attributes:
        first: least value of each range, increasing; a range ends before the next one.
        log_mass: natural log of the probability of each range.
    """

    first: FloatArray
    log_mass: FloatArray

    @property
    def inner_are_single(self) -> bool:
        """True if every range except for the first and the last is a single value."""
        return bool((np.diff(self.first)[1:-1] == 1.0).all())

    def merge(self, starts: IntArray) -> CountRanges:
        """Return a coarser partition of the numbers of clones, in which consecutive ranges are merged.

        Args:
            starts: for each merged range, the index of its first range.

        Returns:
            A partition with one range for each start. Its probability is the sum of those of its parts.
        """
        log_mass = np.logaddexp.reduceat(self.log_mass, starts)
        return CountRanges(self.first[starts], np.asarray(log_mass))


@dataclass(frozen=True)
class CloneCount:
    """The binomial distribution of the number C of clones of a report among n − 1 others, C ~ Bin(n − 1, r).

    A clone is another client's report that looks like that of the protected client.

    Attributes:
        clients: number n of clients, the protected one included.
        rate: probability r that another client's report is a clone.
    """

    clients: int
    rate: float

    @cached_property
    def distribution(self) -> Binomial:
        """Distribution of C."""
        return Binomial(np.asarray(float(self.clients - 1)), self.rate, 1.0 - self.rate)

    @cached_property
    def _mirrored(self) -> Binomial:
        """Distribution of n − 1 − C, the number of reports that are not clones."""
        return Binomial(self.distribution.trials, self.distribution.q, self.distribution.p)

    @property
    def _other_clients(self) -> float:
        """Number n − 1 of clients without the victim."""
        return float(self.clients - 1)

    @property
    def _mean(self) -> float:
        """Mean of C."""
        return self._other_clients * self.rate

    @cached_property
    def likely(self) -> tuple[float, float]:
        """Least and largest value of C that is likely; smaller and larger values are rounded to them.

        They are about 40 standard deviations from the mean, and within 0 and n − 1.
        """
        reach = _REACH * math.sqrt(self._mean * (1.0 - self.rate)) + 50.0
        least = max(0.0, math.floor(self._mean - reach))
        largest = min(self._other_clients, math.ceil(self._mean + reach))
        return least, largest

    @property
    def has_many_values(self) -> bool:
        """True if C has more than `MOST_VALUES` likely values, too many for a range of each."""
        low, high = self.likely
        return high - low + 1.0 > MOST_VALUES

    def ranges(self, most: int) -> CountRanges:
        """Divide the possible values of C into ranges, and compute the log probability of each.

        Values that are not `likely` are part of the first or the last range.

        Args:
            most: approximate number of ranges if C has more than `MOST_VALUES` likely values. If it has fewer, each
                likely value is a range of its own.

        Returns:
            The least value and the log probability of each range.
        """
        low, high = self.likely
        width = 1.0
        if self.has_many_values:
            width = math.ceil((high - low + 1.0) / most)
        # The first range begins at 0, and the last one has no end.
        first = np.unique(np.concatenate(([0.0], np.arange(low, high, width), [high])))
        if width == 1.0:
            return CountRanges(first, self._single_masses(first))
        return CountRanges(first, self._range_masses(first))

    def _range_masses(self, first: FloatArray) -> FloatArray:
        """Compute the log probability that the number C of clones is in each range, as a difference of tails.

        The tails are P(C < c) up to the mean and P(C ≥ c) above it, because differences of small tails are more
        accurate.

        Args:
            first: least value c of each range, increasing from 0. The last range has no end.

        Returns:
            One natural logarithm for each range.
        """

        def log_masses(larger_tail: FloatArray, smaller_tail: FloatArray) -> FloatArray:
            """Return the logs of the differences of tails; 0 differences where rounding has changed their order."""
            return log_difference(larger_tail, np.minimum(smaller_tail, larger_tail))

        middle = int(np.searchsorted(first, self._mean, side="right"))
        # C < c means that at least n − 1 − c + 1 of the n − 1 other reports are not clones.
        log_below = self._mirrored.log_tail(self._other_clients - first[:middle] + 1.0)
        log_above = self.distribution.log_tail(first[middle - 1 :])
        up_to_mean = log_masses(log_below[1:], log_below[:-1])
        beyond_mean = log_masses(log_above[:-1], log_above[1:])
        return np.concatenate((up_to_mean, beyond_mean, log_above[-1:]))

    def _single_masses(self, values: FloatArray) -> FloatArray:
        """Compute the log probability of each likely value of the number C of clones, the reports like the victim's.

        The probability of smaller values is that of the value 0, and the probability of larger values is added to the
        last value.

        Args:
            values: consecutive likely values, preceded by 0 if that is not likely.

        Returns:
            One natural logarithm for each value.
        """
        # The ratio P(C ≥ c)/P(C = c) adds the probability of all larger values to that of the last one.
        log_mass = np.array(self.distribution.log_mass(values))
        log_mass[-1:] += np.log(self.distribution.tail_ratio(values[-1:]))
        least = self.likely[0]
        if least > 0.0:
            # The value 0 gets the probability P(C < c) of all values below the least likely value c. It is a tail of
            # the number n − 1 − C of reports that are not clones.
            least_others = self._other_clients - values[1:2] + 1.0
            log_mass[:1] = self._mirrored.log_mass(least_others) + np.log(self._mirrored.tail_ratio(least_others))
        return log_mass
