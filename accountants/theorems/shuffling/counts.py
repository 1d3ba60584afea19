"""Shuffled k-ary randomized response to few clients: how often two of the categories were reported.

The victim holds category a, or b in its place. All other clients hold b, or all a third category c. The counts of a and
of b among the reports, all further categories taken together, are what is shown: every outcome is enumerated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.curve import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray
from epsilond.accountants.profiles.binned import finite_pair

MOST_CLIENTS = 1000
"""Outcomes grow with the square of the number of clients."""


def two_counts(clients: int, epsilon: float, categories: int) -> tuple[Pair, ...]:
    """The pairs of both instances; none for two categories, of which one count tells all, or for many clients."""
    if categories < 3 or not 2 <= clients <= MOST_CLIENTS:
        return ()
    log_other = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    other, log_kept = math.exp(log_other), log_other + epsilon
    log_rest = log_other + math.log(categories - 2)
    # Reports by category a, by b, and by any other: of a client in a, in b, and in c.
    in_a = (log_kept, log_other, log_rest)
    in_b = (log_other, log_kept, log_rest)
    in_c = (log_other, log_other, math.log1p(-2.0 * other))
    return tuple(_pair(clients, others, in_a, in_b) for others in (in_b, in_c))


def _pair(clients: int, others: tuple[float, ...], first: tuple[float, ...], second: tuple[float, ...]) -> Pair:
    """Counts of `clients` reports, all but one of clients in `others`, the last one's in `first` or in `second`."""
    a, b = (each.ravel() for each in np.meshgrid(np.arange(clients + 1.0), np.arange(clients + 1.0), indexing="ij"))
    inside = a + b <= clients
    a, b = a[inside], b[inside]
    counts = np.stack([a, b, clients - a - b])
    base = _log_multinomial(clients - 1, counts, others)
    log_p, log_q = (np.logaddexp.reduce(base + np.asarray(last)[:, None], axis=0) for last in (first, second))
    size = clients * (math.log(clients + 1.0) + max(abs(each) for each in others))
    return finite_pair(log_p, log_q, (64.0 + 16.0 * size) * UNIT_ROUNDOFF)


def _log_multinomial(others: int, counts: FloatArray, log_rates: tuple[float, ...]) -> FloatArray:
    """log mass of the others' counts, given which of the three the last report adds to: one row each."""
    rows = []
    for place in range(3):
        left = counts - np.eye(3)[place][:, None]
        possible = left[place] >= 0.0
        terms = np.asarray(log_rates)[:, None] * left - gammaln(np.maximum(left, 0.0) + 1.0)
        rows.append(np.where(possible, terms.sum(axis=0) + gammaln(others + 1.0), -np.inf))
    return np.stack(rows)
