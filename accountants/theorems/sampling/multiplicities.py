"""The number of times that a record is drawn when a batch is drawn with replacement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray

NEGLIGIBLE_LOG_WEIGHT = -800.0
"""Log-probability [nat] below which multiplicities are left out; e^−800 is below every δ of a double."""
FAINT_LOG_WEIGHT = -80.0
"""Log-probability [nat] below which groups may be wider."""
FIRST_GROUPED = 24
"""Multiplicity from which on neighbouring ones share a group; 24 keeps a list near 100 groups."""
CLOSE, WIDE = 1.1, 1.5
"""Largest over smallest multiplicity of a group; the second holds for groups below `FAINT_LOG_WEIGHT`."""
MOST_DRAWS = 1e5
"""Largest mean number of times that a record is drawn."""

MOST_ERROR = 1e-11
"""Largest error of a log-weight [nat] with which the distribution is passed to the compiled kernel."""
LEAST_PROBABILITY = 1e-300
"""Least probability that the compiled kernel reads."""


@dataclass(frozen=True)
class Multiplicities:
    """The distribution of the number of times that a record is drawn (its multiplicity), in groups of values.

    The groups are of multiplicities above zero. The probability of zero is `log_absent`.

    Attributes:
        least: smallest multiplicity of each group.
        most: largest multiplicity of each group.
        log_weights: natural log of the probability of each group.
        rate: probability that the record is drawn at all.
        log_absent: natural log of the probability that it is not drawn, within `accuracy`.
        accuracy: bound on the absolute error of each of these logarithms.
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    log_weights: tuple[float, ...]
    rate: float
    log_absent: float
    accuracy: float


def multiplicities(draws: int, population: int, *, single_groups: int = FIRST_GROUPED) -> Multiplicities | None:
    """Return the distribution of the number of times that a record is drawn with replacement, its multiplicity.

    It is binomial, with `draws` trials of probability 1/population. Multiplicities from `single_groups` on are grouped
    within 10 %, or within 50 % above the mean if their probability is below e^−80. Those after the last one with a
    probability above e^−800 are left out.

    Args:
        draws: number of draws, the size of the batch.
        population: number of records that are drawn from.
        single_groups: multiplicity from which on neighbouring ones share a group.

    Returns:
        The groups with their probabilities. None if a record is drawn more than `MOST_DRAWS` times on average.
    """
    if draws > MOST_DRAWS * population:
        return None
    if population == 1:  # the only record is drawn every time
        return Multiplicities(
            least=(draws,), most=(draws,), log_weights=(0.0,), rate=1.0, log_absent=-math.inf, accuracy=0.0
        )

    mean = draws / population
    log_absent = draws * math.log1p(-1.0 / population)
    log_ratios = _log_ratios(draws, population)
    log_weights = log_absent + np.cumsum(log_ratios)
    # The first weight is always included. Those that are left out are together below the last included one.
    is_included = log_weights > NEGLIGIBLE_LOG_WEIGHT
    is_included[0] = True
    included = int(np.max(np.nonzero(is_included)[0])) + 1

    groups = tuple(_group_multiplicities(log_weights[:included], mean, single_groups))
    group_weights = [float(logsumexp(log_weights[least - 1 : most])) for least, most in groups]
    # Each running sum has rounding errors in proportion to its terms.
    sum_of_terms = abs(log_absent) + float(np.abs(log_ratios[:included]).sum())
    return Multiplicities(
        least=tuple(least for least, _ in groups),
        most=tuple(most for _, most in groups),
        log_weights=tuple(group_weights),
        rate=-math.expm1(log_absent),
        log_absent=log_absent,
        accuracy=4 * UNIT_ROUNDOFF * (sum_of_terms + included),
    )


def _log_ratios(draws: int, population: int) -> FloatArray:
    """Compute the logarithms of ratios of successive probabilities P(k) of drawing a record k times.

    For k = 1, 2, … the ratio of the binomial distribution is:

        P(k)/P(k − 1) = (draws − k + 1)/(k (population − 1)).

    Beyond twice the mean each probability is at most half the previous one. So k ends 1024 values later, where all
    probabilities are below e^−800.

    Args:
        draws: number of draws with replacement, at least 1.
        population: number of records that are drawn from, at least 2.

    Returns:
        An array with one logarithm for each multiplicity from 1 on.
    """
    beyond_twice_the_mean = 1024
    largest = min(draws, int(2 * draws / population) + beyond_twice_the_mean)
    multiplicity = np.arange(1, largest + 1, dtype=np.float64)
    return np.log((draws - multiplicity + 1) / multiplicity) - math.log(population - 1)


def _group_multiplicities(log_weights: FloatArray, mean: float, single_groups: int) -> Iterator[tuple[int, int]]:
    """Divide multiplicities, the numbers of times that a record is drawn, into groups of neighbouring values.

    A multiplicity below `single_groups` is a group of its own. In a later group, the largest multiplicity is at most
    `CLOSE` times the least one, or `WIDE` times if the group is above the mean and improbable.

    Args:
        log_weights: natural logarithms of the probabilities of the multiplicities 1, 2, ….
        mean: mean multiplicity.
        single_groups: number from which on multiplicities are grouped.

    Yields:
        The least and the largest multiplicity of each group, in increasing order.
    """
    least = 1
    while least <= log_weights.size:
        most = least
        if least >= single_groups:
            is_faint = log_weights[least - 1] <= FAINT_LOG_WEIGHT and least > mean
            largest_ratio = WIDE if is_faint else CLOSE
            most = min(int(largest_ratio * least), log_weights.size)
        yield least, most
        least = most + 1


def round_probabilities(log_probabilities: Sequence[float], accuracy: float, *, upward: bool) -> tuple[float, ...]:
    """Round a discrete distribution to doubles, so that it becomes stochastically larger, or smaller.

    For a larger distribution, the probabilities of values above the most probable one are rounded up, and those of
    values below it are rounded down. For a smaller one it is the reverse. The most probable value gets the remaining
    mass.

    Args:
        log_probabilities: natural logarithms of the probabilities of increasing values. The probabilities sum to one.
        accuracy: bound on the error of each logarithm.
        upward: True for a stochastically larger distribution, False for a smaller one.

    Returns:
        One probability for each value. They sum to one, up to the rounding of one double.
    """
    heaviest = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
    # At least the relative error of a probability, from its logarithm, the exponential and the products.
    margin = 2.0 * accuracy + 16 * UNIT_ROUNDOFF
    rounded = []
    for index, log_probability in enumerate(log_probabilities):
        probability = math.exp(log_probability)
        is_rounded_up = (index > heaviest) == upward
        if is_rounded_up:
            rounded.append(max(probability * (1.0 + margin), LEAST_PROBABILITY))
        elif probability > 2.0 * LEAST_PROBABILITY:
            rounded.append(probability * (1.0 - margin))
        else:
            rounded.append(0.0)

    rounded[heaviest] = 0.0
    rounded[heaviest] = 1.0 - math.fsum(rounded)
    return tuple(rounded)
