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
    """Return the distributions of two counts of shuffled k-ary randomized responses, for lower bounds on δ.

    One client has category a or b. All others have a third category c in the first pair, and category b in the second.
    The numbers of reports of a and of b are observed.

    Args:
        clients: number of clients, with the one that changes its category.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.

    Returns:
        Two pairs of distributions of the counts on neighbouring data sets. There are none for two categories, where one
        number determines the other, or for more than `MOST_CLIENTS` clients.
    """
    if categories < 3 or not 2 <= clients <= MOST_CLIENTS:
        return ()
    # Log probabilities that a report has a given wrong category, the true one, or one of k − 2 wrong ones.
    log_other = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    log_true = log_other + epsilon
    log_rest = log_other + math.log(categories - 2)
    # Log probabilities that a client with category a, b or c reports a, b, or any other category.
    in_a = (log_true, log_other, log_rest)
    in_b = (log_other, log_true, log_rest)
    in_c = (log_other, log_other, math.log1p(-2.0 * math.exp(log_other)))
    return tuple(_build_pair(clients, log_others, in_a, in_b) for log_others in (in_c, in_b))


def _build_pair(
    clients: int, log_others: tuple[float, ...], log_first: tuple[float, ...], log_second: tuple[float, ...]
) -> Pair:
    """Build the two distributions of the counts of three kinds of reports, if one report has one of two distributions.

    Let M be the multinomial distribution of n reports with the probabilities r_i. If one of them has the probabilities
    f_i instead, the counts c_i have the probability:

        M(c) Σ_i f_i c_i/(n r_i).

    Args:
        clients: number n of reports.
        log_others: natural logarithm of r_i for each kind of report.
        log_first: natural logarithm of f_i in the first distribution.
        log_second: natural logarithm of f_i in the second distribution.

    Returns:
        The two distributions, with one outcome for each triple of counts.
    """
    counts = _list_counts(clients)
    possible_counts = np.arange(clients + 1)

    # log r_i^c/c!, a row for each kind i and a column for each count c.
    log_powers = np.asarray(log_others)[:, None] * possible_counts - gammaln(possible_counts + 1.0)
    first_power, second_power, third_power = log_powers
    first_count, second_count, third_count = counts
    log_orderings = gammaln(clients + 1.0)
    log_multinomial = first_power[first_count] + second_power[second_count] + third_power[third_count] + log_orderings

    log_p = log_multinomial + _log_ratio(counts, log_others, log_first)
    log_q = log_multinomial + _log_ratio(counts, log_others, log_second)
    # The rounding error of a log probability, relative to the largest term of its sum.
    largest_term = clients * (math.log(clients + 1.0) + max(abs(log_rate) for log_rate in log_others))
    accuracy = (64.0 + 16.0 * largest_term) * UNIT_ROUNDOFF
    return finite_pair(log_p, log_q, accuracy)


def _list_counts(clients: int) -> tuple[IntArray, IntArray, IntArray]:
    """List all triples of counts that sum to the number of clients.

    Args:
        clients: number n of clients.

    Returns:
        Three arrays, of the first, the second and the third count, with one entry for each triple.
    """
    # Every pair of integers a ≤ b up to n gives the counts a, b − a and n − b.
    first_count, sum_of_two = np.triu_indices(clients + 1)
    second_count = sum_of_two - first_count
    return first_count, second_count, clients - first_count - second_count


def _log_ratio(
    counts: Sequence[IntArray], log_others: tuple[float, ...], log_replaced: tuple[float, ...]
) -> FloatArray:
    """Compute the log ratio of the probabilities of counts c_i if one of n reports has another distribution.

    If all reports are of kind i with probability r_i, and this one with probability f_i instead, the ratio is:

        Σ_i f_i c_i/(n r_i).

    Args:
        counts: arrays of the counts c_i, one array for each of the three kinds of reports.
        log_others: natural logarithm of r_i for each kind.
        log_replaced: natural logarithm of f_i for each kind.

    Returns:
        An array with one logarithm for each triple of counts; −∞ if the counts are impossible with the replaced report.
    """
    if log_others == log_replaced:
        return np.zeros(counts[0].size)
    # The three counts of every triple add up to the number of clients.
    first_count, second_count, third_count = counts
    clients = float(first_count[0] + second_count[0] + third_count[0])
    ratio = np.zeros(first_count.size)
    for count, log_r, log_f in zip(counts, log_others, log_replaced, strict=True):
        ratio = ratio + count * (math.exp(log_f - log_r) / clients)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ratio))
