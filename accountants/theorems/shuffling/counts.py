"""Shuffled k-ary randomized response of few clients: the numbers of reports of two categories.

The victim holds category a, or b in its place. All other clients hold b, or all hold a third category c. The pairs are
those of the counts of a and of b among the reports, with all further categories combined. Every outcome is enumerated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.binned import finite_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

MOST_CLIENTS = 1000
"""Largest number of clients: the number of outcomes grows with its square."""


def two_counts(clients: int, epsilon: float, categories: int) -> tuple[Pair, ...]:
    """Return pairs for lower bounds on δ of shuffled k-ary randomized response: two counts on neighbouring data sets.

    One client holds category a or b. All others hold a third category c in the first pair, which reveals more, and
    category b in the second. The numbers of reports of a and of b are observed. No pairs are returned for two
    categories, where one number determines the other, or for more than `MOST_CLIENTS` clients.

    Args:
        clients: number of clients, with the one that changes its category.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.
    """
    if categories < 3 or not 2 <= clients <= MOST_CLIENTS:
        return ()
    log_other = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    log_true = log_other + epsilon
    log_rest = log_other + math.log(categories - 2)
    # Log probabilities that a client in a, in b or in c reports a, b, and any other category.
    in_a = (log_true, log_other, log_rest)
    in_b = (log_other, log_true, log_rest)
    in_c = (log_other, log_other, math.log1p(-2.0 * math.exp(log_other)))
    return tuple(_pair(clients, crowd, in_a, in_b) for crowd in (in_c, in_b))


def _pair(clients: int, crowd: tuple[float, ...], first: tuple[float, ...], second: tuple[float, ...]) -> Pair:
    """Return the pair of the counts of three kinds of reports, if one of the reports has one of two distributions.

    Let M be the multinomial distribution of n reports with the probabilities r. If one of the n reports has the
    probabilities f instead, the counts c have the probability M(c) Σ_i f_i c_i/(n r_i).

    Args:
        clients: number n of reports.
        crowd: log r of each kind of report.
        first: log f in the first distribution of the pair.
        second: log f in the second distribution of the pair.
    """
    counts = _all_counts(clients)
    numbers = np.arange(clients + 1)
    # log r_i^c/c!, a row for each kind i and a column for each count c.
    log_powers = np.asarray(crowd)[:, None] * numbers - gammaln(numbers + 1.0)
    log_multinomial = (
        log_powers[0][counts[0]] + log_powers[1][counts[1]] + log_powers[2][counts[2]] + gammaln(clients + 1.0)
    )
    log_p = log_multinomial + _log_ratio(counts, crowd, first)
    log_q = log_multinomial + _log_ratio(counts, crowd, second)
    largest_term = clients * (math.log(clients + 1.0) + max(abs(log_rate) for log_rate in crowd))
    return finite_pair(log_p, log_q, (64.0 + 16.0 * largest_term) * UNIT_ROUNDOFF)


def _all_counts(clients: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return all triples of counts that sum to the number of clients, as three arrays of one entry per triple."""
    first, second = np.triu_indices(clients + 1)
    second = second - first
    return first, second, clients - first - second


def _log_ratio(counts: Sequence[IntArray], crowd: tuple[float, ...], replaced: tuple[float, ...]) -> FloatArray:
    """Return the log ratio of the probabilities of counts with and without a replaced report, log Σ f_i c_i/(n r_i).

    The n reports are independent, and those of the other clients are of kind i with probability r_i. The replaced
    report is of kind i with probability f_i.

    Args:
        counts: arrays of the counts c_i, one array for each of the three kinds of reports.
        crowd: natural logarithm of r_i for each kind.
        replaced: natural logarithm of f_i for each kind.

    Returns:
        An array with one logarithm for each triple of counts; −∞ if the counts are impossible with the replaced report.
    """
    if crowd == replaced:
        return np.zeros(counts[0].size)
    clients = float(counts[0][0] + counts[1][0] + counts[2][0])
    ratio = sum(count * (math.exp(f - r) / clients) for count, r, f in zip(counts, crowd, replaced, strict=True))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ratio))
