"""Whether the sizes of batches are those of Poisson sampling, decided while the run goes on."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from epsilond.runs.false_alarms import PER_TEST, log_threshold

_SHARES: Final = 3
"""Number of equal shares of the wealth: one is kept, and one each is bet on the most frequent and the previous size."""

_LARGEST_LOG: Final = 500.0
"""Largest −log p [nat] that a bet uses, so that its exponential does not overflow."""


class BatchSizes:
    """Two sequential tests of whether batches come from Poisson sampling.

    The hypothesis is that their sizes are independent Binomial(records, rate) variables. The first test rejects a
    single size that is too large or too small, by Chernoff's bound on the tail. The second test detects sizes that
    repeat, such as those of a loader of equal batches. It bets on sizes: under the hypothesis, the expected wealth is
    at most 1, so that it ever reaches 1/α with probability at most α (Ville's inequality). New wealth of 1/(t (t + 1))
    is added at each step t, so that a change in the middle of a run is detected too.

    Attributes:
        alarm: sentence about the rejection, for the caller; None if no test has rejected.
    """

    def __init__(self) -> None:
        self.alarm: str | None = None
        self._steps = 0
        self._wealth = 0.0
        self._counts: Counter[int] = Counter()
        self._previous = -1

    def observe(self, size: int, *, records: int, rate: float) -> None:
        """Test the size of the next batch, and set `alarm` at the first rejection.

        A batch of all records is required if the rate is 1.

        Args:
            size: number of records in the batch.
            records: number of records in the data set.
            rate: probability with which each record should be drawn, in (0, 1].
        """
        self._steps += 1
        if rate >= 1.0 or size > records:
            if size != records:
                self._raise_alarm(f"a batch has {size} records where the recorded sampling takes all {records}")
            return
        tail_exponent = records * _divergence(size / records, rate)  # −log of Chernoff's bound on the tail
        if tail_exponent >= log_threshold(self._steps, hypotheses=2):
            expected = f"{records * rate:.1f} of {records}"
            self._raise_alarm(f"a batch has {size} records where the recorded sampling draws {expected} on average")
        inverse_probability = math.exp(min(-_log_probability(size, records, rate), _LARGEST_LOG))
        self._bet(size, inverse_probability)

    def _bet(self, size: int, inverse_probability: float) -> None:
        """Test by betting whether batch sizes repeat too often, and raise the alarm if the bets win too much.

        The hypothesis is that sizes are independent binomial variables. A third of the wealth is kept, a third is bet
        on the most frequent size and a third on the previous size. A won bet returns its stake times 1 over the
        probability of the size, so the expected wealth does not grow under the hypothesis. A wealth of 1/`PER_TEST`
        raises the alarm, with probability at most `PER_TEST`, the level of the test.

        Args:
            size: number of records in the batch of this step.
            inverse_probability: 1 over the probability of the size under the hypothesis.
        """
        step = self._steps
        most_frequent = max(self._counts, key=self._counts.__getitem__, default=-1)
        won_bets = int(size == most_frequent) + int(size == self._previous)
        growth_factor = 1.0
        has_previous = self._previous >= 0  # the first size is not bet on
        if has_previous:
            growth_factor = (1.0 + won_bets * inverse_probability) / _SHARES

        new_wealth = 1.0 / (step * (step + 1))  # sums to 1 over all steps
        self._wealth = (self._wealth + new_wealth) * growth_factor
        self._counts[size] += 1
        self._previous = size

        if self._wealth * PER_TEST >= 1.0:
            times = self._counts[size]
            self._raise_alarm(f"{times} of {step} batches have {size} records: Poisson batches differ in size")

    def _raise_alarm(self, message: str) -> None:
        """Set the alarm, unless an earlier rejection has set it.

        Args:
            message: sentence about the rejection.
        """
        self.alarm = self.alarm or message


def _divergence(share: float, rate: float) -> float:
    """Return the Kullback–Leibler divergence [nat] of Bernoulli(x) from Bernoulli(q).

    It is x log(x/q) + (1 − x) log((1 − x)/(1 − q)), where 0 log 0 is 0.

    Args:
        share: fraction x of the records that are in the batch, in [0, 1].
        rate: sampling rate q in (0, 1).

    Returns:
        The divergence, up to rounding errors. The exact one is at least 0, and is 0 if and only if x = q.
    """
    term_of_one = share * math.log(share / rate) if share > 0.0 else 0.0
    term_of_zero = (1.0 - share) * (math.log1p(-share) - math.log1p(-rate)) if share < 1.0 else 0.0
    return term_of_one + term_of_zero


def _log_probability(size: int, records: int, rate: float) -> float:
    """Return the log-probability [nat] of a size under Binomial(records, rate).

    It is log C(n, k) + k log q + (n − k) log(1 − q).

    Args:
        size: number k of records in the batch.
        records: number n of records in the data set, at least k.
        rate: sampling rate q in (0, 1).

    Returns:
        The logarithm of the probability, at most 0 up to rounding.
    """
    log_choices = math.lgamma(records + 1) - math.lgamma(size + 1) - math.lgamma(records - size + 1)
    return log_choices + size * math.log(rate) + (records - size) * math.log1p(-rate)
