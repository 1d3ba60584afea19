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
SINGLE_GROUPS = 24
"""Largest multiplicity that has a group of its own; 24 keeps a list near 100 groups."""
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
    """The distribution of the number of times that a record is drawn (its multiplicity), for numbers above zero.

    Neighbouring multiplicities may be merged into groups.

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


def multiplicities(draws: int, population: int, *, single_groups: int = SINGLE_GROUPS) -> Multiplicities | None:
    """Return the distribution of the number of times that a record is drawn with replacement, its multiplicity.

    It is binomial, with `draws` trials of probability 1/population. Multiplicities above `single_groups` are grouped
    within 10 %, or within 50 % if each has a probability below e^−80. Multiplicities with a probability below e^−800
    are left out.

    Args:
        draws: number of draws, the size of the batch.
        population: number of records that are drawn from.
        single_groups: multiplicity from which on multiplicities are grouped.

    Returns:
        The groups, or None if a record is drawn more than `MOST_DRAWS` times on average.
    """
    if draws > MOST_DRAWS * population:
        return None
    # The only record is drawn every time.
    if population == 1:
        return Multiplicities(
            least=(draws,), most=(draws,), log_weights=(0.0,), rate=1.0, log_absent=-math.inf, accuracy=0.0
        )

    mean = draws / population
    log_absent = draws * math.log1p(-1.0 / population)
    log_ratios = _log_ratios(draws, population)
    log_weights = log_absent + np.cumsum(log_ratios)
    # The first weight is always included. The weights after the last included one together weigh less than it.
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
    """Compute the log of P(k)/P(k − 1) = (draws − k + 1)/(k (population − 1)) for the multiplicities k = 1, 2, ….

    A multiplicity is the number of times that a record is drawn, which is binomial. Beyond twice the mean each
    probability is at most half the previous one. 1024 values later all are below e^−800, and no further ones are
    returned.

    Args:
        draws: number of draws with replacement, at least 1.
        population: number of records that are drawn from, at least 2.

    Returns:
        An array with one logarithm for each multiplicity from 1 on.
    """
    beyond_twice_the_mean = 1024
    largest = min(draws, int(2 * draws / population) + beyond_twice_the_mean)
    times = np.arange(1, largest + 1, dtype=np.float64)
    return np.log((draws - times + 1) / times) - math.log(population - 1)


def _group_multiplicities(log_weights: FloatArray, mean: float, single_groups: int) -> Iterator[tuple[int, int]]:
    """Yield groups of multiplicities, as the least and the largest number of each, in increasing order.

    The multiplicity of a record is the number of times that it is drawn. A multiplicity below `single_groups` is a
    group of its own. Later groups are as wide as a given factor allows, and wider if they are unlikely.

    Args:
        log_weights: natural logarithms of the probabilities of the multiplicities 1, 2, ….
        mean: mean multiplicity.
        single_groups: number from which on multiplicities are grouped.

    Yields:
        The least and the largest multiplicity of a group.
    """
    least = 1
    while least <= log_weights.size:
        # A group ends at a multiple of its least multiplicity, which is larger for unlikely groups.
        most = least
        if least >= single_groups:
            is_faint = log_weights[least - 1] <= FAINT_LOG_WEIGHT and least > mean
            largest_ratio = WIDE if is_faint else CLOSE
            most = min(int(largest_ratio * least), log_weights.size)
        yield least, most
        least = most + 1


def round_probabilities(log_probabilities: Sequence[float], accuracy: float, *, upward: bool) -> tuple[float, ...]:
    """Round a distribution to doubles, so that it becomes stochastically larger or smaller in spite of rounding.

    The distribution is that of the multiplicity of a record, the number of times that it is drawn. To become larger,
    probabilities of multiplicities above the most likely one are rounded up, and those below it are rounded down. To
    become smaller it is the other way round. The most likely multiplicity has the remaining mass.

    Args:
        log_probabilities: natural logs of the probabilities of increasing multiplicities; their sum is one.
        accuracy: bound on the error of each logarithm.
        upward: True for a stochastically larger distribution, False for a smaller one.

    Returns:
        One probability for each multiplicity; their sum is one up to the last rounding.
    """
    heaviest = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
    # The relative error of a probability: that of its logarithm, and that of the exponential and of the products.
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

    # The most likely multiplicity has the mass that the others leave.
    rounded[heaviest] = 0.0
    rounded[heaviest] = 1.0 - math.fsum(rounded)
    return tuple(rounded)
