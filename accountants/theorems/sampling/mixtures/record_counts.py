"""The number of records of one client in a batch that is drawn from the records of all clients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.sampling.multiplicities import (
    FAINT_LOG_WEIGHT,
    MOST_DRAWS,
    NEGLIGIBLE_LOG_WEIGHT,
    WIDE,
    Multiplicities,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.numerics.special import FloatArray

MOST_FACTORS = 10**6
"""Largest number of factors of the probability that a batch of fixed size has no record of the client."""


def independent_counts(records: int, rate: float) -> Multiplicities | None:
    """Return the binomial distribution of the number of a client's records in a Poisson batch.

    Each record is drawn independently with the same probability.

    Args:
        records: number k of records of the client, at least 1.
        rate: probability q that a record is drawn, 0 < q < 1.

    Returns:
        The distribution of the number above 0, with neighbouring values in groups. None if more than `MOST_DRAWS`
        records are drawn on average.
    """
    mean = records * rate
    if mean > MOST_DRAWS:
        return None
    log_absent = records * math.log1p(-rate)
    log_odds = math.log(rate) - math.log1p(-rate)
    # P(j)/P(j − 1) = (k − j + 1)/j · q/(1 − q) for j = 1, 2, …
    numbers = _list_numbers(records, mean)
    log_ratios = np.log((records - numbers + 1) / numbers) + log_odds
    return _build_from_ratios(records, mean, log_absent, log_ratios)


def fixed_size_counts(records: int, batch_size: int, population: int) -> Multiplicities | None:
    """Return the hypergeometric distribution of the number of a client's records in a batch of fixed size.

    Args:
        records: number k of records of the client.
        batch_size: number K of records in the batch.
        population: number n of all records, at least `records` + `batch_size`.

    Returns:
        The distribution of the number above 0, with neighbouring values in groups. None if more than `MOST_DRAWS`
        records are drawn on average, or if k and K are both above `MOST_FACTORS`.
    """
    smaller, larger = sorted((records, batch_size))
    mean = records * batch_size / population
    if mean > MOST_DRAWS or smaller > MOST_FACTORS:
        return None

    # P(0) is a product with a factor for each element of the smaller set: none of them is in the larger set.
    remaining_population = population - np.arange(smaller, dtype=np.float64)
    log_absent = float(np.log1p(-larger / remaining_population).sum())

    # P(j)/P(j − 1) = (k − j + 1)(K − j + 1)/(j (n − k − K + j)) for j = 1, 2, …
    numbers = _list_numbers(smaller, mean)
    in_neither = float(population - records - batch_size)  # n − k − K
    log_record_ratios = np.log((records - numbers + 1) / numbers)
    log_place_ratios = np.log((batch_size - numbers + 1) / (in_neither + numbers))
    log_ratios = log_record_ratios + log_place_ratios
    return _build_from_ratios(smaller, mean, log_absent, log_ratios)


def _list_numbers(records: int, mean: float) -> FloatArray:
    """List the numbers 1, 2, … of records for which probabilities are computed.

    From twice the mean on, each probability is at most about half the previous one. After 1200 more numbers it is
    about 2^−1200 or less, which is negligible.

    Args:
        records: largest possible number.
        mean: mean number.

    Returns:
        The numbers as doubles, up to the largest possible number or 1200 beyond twice the mean.
    """
    beyond_twice_the_mean = 1200
    largest = min(records, int(2 * mean) + beyond_twice_the_mean)
    return np.arange(1, largest + 1, dtype=np.float64)


def _group_counts(log_weights: FloatArray, mean: float) -> Iterator[tuple[int, int]]:
    """Divide the numbers of records into groups, so that a mixture over the number has few components.

    From the first to the last number with a probability above e^−80, a group is as wide as a quarter of the root of the
    mean. This is at least a quarter of the standard deviation. Smaller numbers are one group. Larger numbers form
    groups in which the largest number is at most `WIDE` times the least.

    Args:
        log_weights: natural logarithms of the probabilities of the numbers 1, 2, ….
        mean: mean number of records.

    Yields:
        The least and the largest number of each group, in increasing order. The groups cover all numbers of
        `log_weights`.
    """
    width = max(int(0.25 * math.sqrt(mean)), 1)
    first, last = 1, 1
    likely = np.flatnonzero(log_weights > FAINT_LOG_WEIGHT) + 1
    if likely.size:
        first, last = int(likely[0]), int(likely[-1])

    least = 1
    while least <= log_weights.size:
        if least < first:
            most = first - 1
        elif least <= last:
            most = min(least + width - 1, last)
        else:
            most = min(max(int(WIDE * least), least), log_weights.size)
        yield least, most
        least = most + 1


def _build_from_ratios(most: int, mean: float, log_absent: float, log_ratios: FloatArray) -> Multiplicities:
    """Build the distribution of a client's number of records in a batch from ratios of successive probabilities.

    Args:
        most: largest possible number of records.
        mean: mean number of records.
        log_absent: natural logarithm of the probability of 0.
        log_ratios: logarithms of P(j)/P(j − 1) for j = 1, 2, ….

    Returns:
        The distribution of the number above 0, with neighbouring numbers merged into groups.
    """
    log_weights = log_absent + np.cumsum(log_ratios)

    # Numbers after the last one with a probability that is not negligible are left out. The first one is always
    # included.
    is_included = (log_weights > NEGLIGIBLE_LOG_WEIGHT) | (np.arange(log_weights.size) == 0)
    included = int(np.max(np.nonzero(is_included)[0])) + 1
    groups = list(_group_counts(log_weights[:included], mean))
    weights = [float(logsumexp(log_weights[least - 1 : last])) for least, last in groups]

    # The numbers that are left out form one more group. Its probability is rounded up, by a factor e.
    if included < most:
        groups.append((included + 1, most))
        weights.append(NEGLIGIBLE_LOG_WEIGHT + 1.0)

    # Each running sum has rounding errors in proportion to its terms.
    sum_of_terms = abs(log_absent) + float(np.abs(log_ratios[:included]).sum())
    accuracy = 8 * UNIT_ROUNDOFF * (sum_of_terms + included)
    return Multiplicities(
        least=tuple(least for least, _ in groups),
        most=tuple(last for _, last in groups),
        log_weights=tuple(weights),
        rate=-math.expm1(log_absent),
        log_absent=log_absent,
        accuracy=accuracy,
    )
