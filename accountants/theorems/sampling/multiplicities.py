"""The number of times that a record is drawn when a batch is drawn with replacement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

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
    """The distribution of the multiplicity of a record, the number of times that it is drawn, above zero.

    Neighbouring multiplicities may be merged into groups.

    Attributes:
        least: smallest multiplicity of each group.
        most: largest multiplicity of each group.
        log_weights: log-probability [nat] that the record is drawn, with a multiplicity of the group.
        rate: probability that the record is drawn at all.
        log_absent: log-probability [nat] that it is not, within `accuracy`.
        accuracy: bound on the error of a log-weight [nat].
    """

    least: tuple[int, ...]
    most: tuple[int, ...]
    log_weights: tuple[float, ...]
    rate: float
    log_absent: float
    accuracy: float


def multiplicities(draws: int, population: int, *, single_groups: int = SINGLE_GROUPS) -> Multiplicities | None:
    """Return the distribution of the multiplicity of a record in a batch that is drawn with replacement.

    It is binomial, with `draws` trials of probability 1/population. Multiplicities above `single_groups` are grouped
    within 10 %, or within 50 % if each has a probability below e^−80. Those with a probability below e^−800 are left
    out.

    Args:
        draws: number of draws, the size of the batch.
        population: number of records that are drawn from.
        single_groups: number from which on multiplicities are grouped.

    Returns:
        The groups, or None if a record is drawn more than `MOST_DRAWS` times on average.
    """
    if draws > MOST_DRAWS * population or (draws > MOST_DRAWS and population == 1):
        return None
    if population == 1:
        return Multiplicities((draws,), (draws,), (0.0,), 1.0, -math.inf, 0.0)
    log_absent = draws * math.log1p(-1.0 / population)
    longest = min(draws, int(2 * draws / population) + 1024)
    k = np.arange(1, longest + 1, dtype=np.float64)
    steps = np.log((draws - k + 1) / k) - math.log(population - 1)
    log_weights = log_absent + np.cumsum(steps)
    # Beyond twice the mean every weight is at most half the previous one: the rest weighs less than the last included.
    included = int(np.max(np.nonzero((log_weights > NEGLIGIBLE_LOG_WEIGHT) | (k <= 1))[0])) + 1
    least, most, weights = [], [], []
    start = 1
    while start <= included:
        faint = log_weights[start - 1] <= FAINT_LOG_WEIGHT and start > draws / population
        end = start if start < single_groups else int((WIDE if faint else CLOSE) * start)
        end = min(end, included)
        least.append(start)
        most.append(end)
        weights.append(float(logsumexp(log_weights[start - 1 : end])))
        start = end + 1
    accuracy = 4 * UNIT_ROUNDOFF * (abs(log_absent) + float(np.abs(steps[:included]).sum()) + included)
    rate = -math.expm1(log_absent)
    return Multiplicities(tuple(least), tuple(most), tuple(weights), rate, log_absent, accuracy)


def round_probabilities(log_probabilities: Sequence[float], accuracy: float, *, upward: bool) -> tuple[float, ...]:
    """Return probabilities of a stochastically larger distribution, as doubles near the given probabilities.

    Probabilities above the most likely multiplicity are rounded up, and those below it are rounded down. The most
    likely multiplicity has the remaining mass.

    Args:
        log_probabilities: logarithms [nat] of the probabilities of increasing multiplicities; the sum is one.
        accuracy: bound on the error of each logarithm.
        upward: False for a stochastically smaller distribution.
    """
    heaviest = max(range(len(log_probabilities)), key=log_probabilities.__getitem__)
    margin, rounded = 2.0 * accuracy + 16 * UNIT_ROUNDOFF, []
    for place, log_probability in enumerate(log_probabilities):
        value = math.exp(log_probability)
        if (place > heaviest) == upward:
            rounded.append(max(value * (1.0 + margin), LEAST_PROBABILITY))
        else:
            rounded.append(value * (1.0 - margin) if value > 2.0 * LEAST_PROBABILITY else 0.0)
    rounded[heaviest] = 0.0
    rounded[heaviest] = 1.0 - math.fsum(rounded)
    return tuple(rounded)
