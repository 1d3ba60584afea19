"""All lists of counts of the outcomes in T runs of one distribution, with their total losses and probabilities."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

_STORED_TABLES, _MOST_STORED_ENTRIES = 16, 2**12
"""Number of stored tables of counts, and largest number of entries of each: 2 MB in all."""


class _CountStep(NamedTuple):
    """Step of an enumeration of all lists (n_1, …, n_k) of counts of k outcomes, which appends one count n_i.

    The step extends every list (n_1, …, n_{i−1}) by every possible n_i. All attributes have one entry for each extended
    list.

    Attributes:
        shorter_list: index of the list before the step that is extended.
        times: the appended count n_i.
        log_factorial: log n_i!.
    """

    shorter_list: IntArray
    times: IntArray
    log_factorial: FloatArray


def _iterate_count_steps(size: int, count: int) -> Iterator[_CountStep]:
    """Yield the k steps that enumerate all lists of counts n_1, …, n_k ≥ 0 with a given sum.

    Each step appends every possible count of one more outcome. The last count is the number of runs that remain.

    Args:
        size: number k of outcomes.
        count: number T of runs, the sum of the counts.

    Yields:
        One step for each outcome: which lists it extends, the count that it appends to each, and log n_i!.
    """
    log_factorial = np.asarray(gammaln(np.arange(count + 1) + 1.0))
    remaining = np.asarray([count])
    for _ in range(size - 1):
        sizes = remaining + 1
        shorter_list = np.repeat(np.arange(remaining.size), sizes)
        # A list with r runs left has r + 1 extensions, by the counts 0, 1, …, r.
        times = np.arange(shorter_list.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield _CountStep(shorter_list, times, log_factorial[times])
        remaining = remaining[shorter_list] - times
    yield _CountStep(np.arange(remaining.size), remaining, log_factorial[remaining])


@functools.lru_cache(maxsize=_STORED_TABLES)
def _stored_count_steps(size: int, count: int) -> tuple[_CountStep, ...]:
    """Return the steps that enumerate how often each outcome occurs in several runs (`_iterate_count_steps`).

    They are stored, because a search computes compositions with the same number of runs again.

    Args:
        size: number of outcomes.
        count: number of runs.

    Returns:
        One step for each outcome, which appends its counts to the lists of counts.
    """
    return tuple(_iterate_count_steps(size, count))


def combine_outcomes(law: FiniteLaw, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the total loss and the log probability of every list of counts of the outcomes in T runs.

    The list with the counts n_i has:

        the loss Σ n_i L_i and the probability T!/Π n_i! · Π p_i^{n_i}.

    Both are computed for all lists together, by one step for each outcome.

    Args:
        law: losses L_i and probabilities p_i of the outcomes of one run.
        count: number T of runs.

    Returns:
        Two arrays of equal length: the total loss of each list in nats, and its log probability.
    """
    size = len(law.losses)
    number_of_lists = math.comb(count + size - 1, size - 1)
    is_small = size * number_of_lists <= _MOST_STORED_ENTRIES
    steps = _stored_count_steps(size, count) if is_small else _iterate_count_steps(size, count)

    # Before the first step there is one empty list, with the loss 0 and the factor T!.
    total_loss, log_mass = np.zeros(1), np.asarray(gammaln(np.asarray([count + 1.0])))
    for step, loss, log_p in zip(steps, law.losses, law.log_first, strict=True):
        shorter_list, times, log_factorial = step
        total_loss = total_loss[shorter_list] + times * loss
        log_mass = log_mass[shorter_list] + (times * log_p - log_factorial)
    return total_loss, log_mass
