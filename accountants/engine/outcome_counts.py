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


class _Outcome(NamedTuple):
    """A step in listing all counts (n_1, …, n_k) of k outcomes: each partial list gets the count of one more outcome.

    After the step there is one entry for each list of counts of the outcomes so far.

    Attributes:
        shorter_list: for each new list, the index of the list before the step that it extends.
        times: for each new list, the count n_i of the added outcome.
        log_factorial: log n_i! of this count.
    """

    shorter_list: IntArray
    times: IntArray
    log_factorial: FloatArray


def _enumerate_counts(size: int, count: int) -> Iterator[_Outcome]:
    """Yield the steps that list all counts n_1, …, n_k ≥ 0 of the outcomes of some runs. Each step adds one outcome.

    A partial list has counts for the outcomes so far, and some runs that remain. A step extends each partial list by
    every possible count of the next outcome. The last outcome takes all runs that remain.

    Args:
        size: number k of outcomes.
        count: number of runs, which is Σ n_i.

    Yields:
        The step of one outcome: the lists that it extends, the count that it adds to each, and log n_i! of that count.
    """
    log_factorial = np.asarray(gammaln(np.arange(count + 1) + 1.0))
    remaining = np.asarray([count])
    for _ in range(size - 1):
        sizes = remaining + 1
        shorter_list = np.repeat(np.arange(remaining.size), sizes)
        # A list with r runs left is extended by the counts 0, 1, …, r.
        times = np.arange(shorter_list.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield _Outcome(shorter_list, times, log_factorial[times])
        remaining = remaining[shorter_list] - times
    yield _Outcome(np.arange(remaining.size), remaining, log_factorial[remaining])


@functools.lru_cache(maxsize=_STORED_TABLES)
def _store_counts(size: int, count: int) -> tuple[_Outcome, ...]:
    """Return all steps that list the counts of the outcomes in a small number of runs, and store them.

    The compositions of a search often share these tables, which depend on the two numbers only.

    Args:
        size: number of outcomes.
        count: number of runs.

    Returns:
        One step for each outcome, with the lists that it extends and the counts that it adds (`_Outcome`).
    """
    return tuple(_enumerate_counts(size, count))


def combine_outcomes(law: FiniteLaw, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the total loss and the log probability of every list of counts of the outcomes in some runs.

    A list with the counts n_i has the loss Σ n_i L_i and the multinomial probability T!/Π n_i! · Π p_i^{n_i}. The lists
    grow by the count of one outcome in each step (`_enumerate_counts`).

    Args:
        law: losses L_i and probabilities p_i of the outcomes of one run.
        count: number T of runs.

    Returns:
        Two arrays of equal length: the total loss of each list in nats, and its log probability.
    """
    # The steps of a small enumeration are stored, because other distributions of the same size use them.
    size = len(law.losses)
    number_of_lists = math.comb(count + size - 1, size - 1)
    is_small = size * number_of_lists <= _MOST_STORED_ENTRIES
    steps = _store_counts(size, count) if is_small else _enumerate_counts(size, count)

    # At first there is one empty list, with the loss 0 and the factor T!.
    total_loss, log_mass = np.zeros(1), np.asarray(gammaln(np.asarray([count + 1.0])))
    for step, loss, log_p in zip(steps, law.losses, law.log_first, strict=True):
        shorter_list, times, log_factorial = step
        total_loss = total_loss[shorter_list] + times * loss
        log_mass = log_mass[shorter_list] + (times * log_p - log_factorial)
    return total_loss, log_mass
