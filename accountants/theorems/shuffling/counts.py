"""Shuffled k-ary randomized response to few clients: how often two of the categories were reported.

The victim holds category a, or b in its place. All other clients hold b, or all a third category c. The counts of a and
of b among the reports, all further categories taken together, are what is shown: every outcome is enumerated.
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
"""Outcomes grow with the square of the number of clients."""


def two_counts(clients: int, epsilon: float, categories: int) -> tuple[Pair, ...]:
    """The pairs of both instances, the one that tells more first.

    None for two categories, of which one count tells all, or for many clients.
    """
    if categories < 3 or not 2 <= clients <= MOST_CLIENTS:
        return ()
    log_other = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    other, log_kept = math.exp(log_other), log_other + epsilon
    log_rest = log_other + math.log(categories - 2)
    # Reports by category a, by b, and by any other: of a client in a, in b, and in c.
    in_a = (log_kept, log_other, log_rest)
    in_b = (log_other, log_kept, log_rest)
    in_c = (log_other, log_other, math.log1p(-2.0 * other))
    return tuple(_pair(clients, others, in_a, in_b) for others in (in_c, in_b))


def _pair(clients: int, others: tuple[float, ...], first: tuple[float, ...], second: tuple[float, ...]) -> Pair:
    """Counts of `clients` reports, all but one of clients in `others`, the last one's in `first` or in `second`.

    With M the multinomial law of n reports at the others' rates r, the counts c are seen with probability
    M(c) Σ_i f_i c_i/(n r_i) where the last report has the rates f: it is one of those of its kind.
    """
    row = np.arange(clients + 1)
    width = clients + 1 - row
    a = np.repeat(row, width)
    b = np.arange(a.size) - np.repeat(np.cumsum(width) - width, width)
    rest = clients - a - b
    # log of r_i^c / c!, by the count.
    powers = np.asarray(others)[:, None] * row - gammaln(row + 1.0)
    base = powers[0][a] + powers[1][b] + powers[2][rest] + gammaln(clients + 1.0)
    size = clients * (math.log(clients + 1.0) + max(abs(each) for each in others))
    log_p, log_q = (base + _log_share((a, b, rest), others, last) for last in (first, second))
    return finite_pair(log_p, log_q, (64.0 + 16.0 * size) * UNIT_ROUNDOFF)


def _log_share(counts: Sequence[IntArray], others: tuple[float, ...], last: tuple[float, ...]) -> FloatArray:
    """log Σ_i f_i c_i/(n r_i), of positive terms."""
    if others == last:
        return np.zeros(counts[0].size)
    clients = float(counts[0][0] + counts[1][0] + counts[2][0])
    share = sum(count * (math.exp(f - r) / clients) for count, r, f in zip(counts, others, last, strict=True))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share))
