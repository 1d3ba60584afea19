"""Sums in logarithms, and sums of many terms, few of which matter at each point: log Σ_k e^{f_k(x)}, f_k monotone.

Points are taken in blocks. In a block every f_k is between its values at the least and at the largest point. A term is
left out if the larger of these two is 50 below the largest of the smaller values of all terms. It then adds nothing to
the sum anywhere in the block. For some hundred terms this leaves out most of them, and their sum is less than a
rounding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

_NEGLIGIBLE = 50.0
"""Distance below the largest term, in nats, at which a term is left out.

A million such terms add 2e-16 of the largest.
"""
_MOST_RANGE = 500.0
"""Range of logarithms, in nats, whose exponentials are added without a logarithm for each partial sum."""
_BLOCK, _FEWEST_POINTS, _FEWEST_TERMS = 256, 512, 6
"""Number of points of a block; and numbers of points and of terms below which blocks save no time."""
_STEP = 4
"""Number of terms of which windows start and end at a multiple, so that neighbouring blocks share a window."""


class TermWindow(NamedTuple):
    """A block of points, and the terms of a sum that are not negligible at these points.

    Attributes:
        points: range of indices of the points, which are consecutive.
        terms: range of indices of the terms, which are consecutive.
    """

    points: slice
    terms: slice


def log_sums(logs: FloatArray) -> FloatArray:
    """Return log Σ e^{logs} over the first axis; −inf if every term is −inf.

    The largest term is taken out of each sum, so that nothing overflows.

    Args:
        logs: logarithms of the terms, with one row for each term.

    Returns:
        One logarithm for each column.
    """
    largest = logs.max(axis=0)
    # A column without any finite term is shifted by 0, so that its sum is log 0 = −inf.
    largest = np.where(np.isneginf(largest), 0.0, largest)
    scaled_terms = logs - largest
    np.exp(scaled_terms, out=scaled_terms)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(scaled_terms.sum(axis=0)) + largest)


def log_sum(values: FloatArray) -> float:
    """Return log Σ e^x over the elements x of an array, without overflow; −inf for an empty array."""
    largest = float(values.max()) if values.size else -math.inf
    if math.isinf(largest):
        return largest
    return largest + math.log(float(np.exp(values - largest).sum()))


def running_log_sums(logs: FloatArray) -> FloatArray:
    """Return the logarithms of the running sums Σ_{k ≤ j} e^{x_k} for each position j of an array.

    If the finite x_k differ by at most `_MOST_RANGE`, their exponentials are added, which is quick. Otherwise these
    could underflow, and the slower addition of logarithms is used.

    Args:
        logs: logarithms x_k of the terms, in the order of summation.

    Returns:
        log Σ_{k ≤ j} e^{x_k} for each position j.
    """
    finite = logs[np.isfinite(logs)]
    if not finite.size or finite.max() - finite.min() > _MOST_RANGE:
        return np.asarray(np.logaddexp.accumulate(logs))
    largest = finite.max()
    with np.errstate(divide="ignore"):
        return np.asarray(largest + np.log(np.cumsum(np.exp(logs - largest))))


class PointRuns(NamedTuple):
    """Blocks of consecutive points at which a sum of many terms is evaluated.

    Attributes:
        stops: index of the first point of each block, and then the number of points.
        least: least point of each block.
        largest: largest point of each block.
    """

    stops: IntArray
    least: FloatArray
    largest: FloatArray


def blocks_of(terms: int, points: FloatArray) -> PointRuns | None:
    """Divide the points at which a sum is evaluated into blocks of consecutive points.

    Args:
        terms: number of terms of the sum.
        points: the points.

    Returns:
        The starts of the blocks, and the least and the largest point of each. None if there are so few terms or points
        that blocks save no time.
    """
    if terms < _FEWEST_TERMS or points.size < _FEWEST_POINTS:
        return None
    starts = np.arange(0, points.size, _BLOCK)
    least = np.asarray(np.minimum.reduceat(points, starts))
    largest = np.asarray(np.maximum.reduceat(points, starts))
    return PointRuns(np.append(starts, points.size), least, largest)


def windows(blocks: PointRuns, *terms: tuple[FloatArray, FloatArray]) -> Iterator[TermWindow]:
    """Yield ranges of points, each with a range of terms. Terms outside it are negligible there in all given sums.

    A range of points consists of consecutive blocks with the same range of terms. Ranges of terms are rounded outward
    to multiples of `_STEP`, so that more blocks have the same range.

    Args:
        blocks: the result of `blocks_of`.
        terms: for each sum, the logarithms of its terms at the least and at the largest point of each block. They have
            one row for each term, and all sums have the same number of terms.
    """
    masks = [_may_matter(at_least, at_largest) for at_least, at_largest in terms]
    is_needed = np.logical_or.reduce(masks)
    count = is_needed.shape[0]
    first_needed = np.argmax(is_needed, axis=0)
    stop = count - np.argmax(is_needed[::-1], axis=0)
    low = first_needed // _STEP * _STEP
    high = np.minimum((stop + _STEP - 1) // _STEP * _STEP, count)

    is_new_run = (np.diff(low) != 0) | (np.diff(high) != 0)
    starts_of_runs = np.flatnonzero(is_new_run) + 1
    for first, last in _runs(starts_of_runs.tolist(), low.size):
        points = slice(int(blocks.stops[first]), int(blocks.stops[last + 1]))
        yield TermWindow(points, slice(int(low[first]), int(high[first])))


def _runs(changes: Sequence[int], blocks: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last block of each run of consecutive blocks.

    Args:
        changes: indices of the blocks at which a new run begins, increasing, without the first block.
        blocks: number of blocks.
    """
    starts = [0, *changes]
    ends = [start - 1 for start in starts[1:]] + [blocks - 1]
    yield from zip(starts, ends, strict=True)


def _may_matter(first: FloatArray, last: FloatArray) -> FloatArray:
    """Return a mask of the terms (rows) that are not certainly negligible in a block (columns).

    Each term is monotone, so in a block it is between its values at the least and at the largest point. It is
    negligible if its larger value is `_NEGLIGIBLE` or more below the largest of the smaller values of all terms.

    Args:
        first: logarithms of the terms at the least point of each block.
        last: logarithms of the terms at the largest point of each block.

    Returns:
        A mask with one row for each term and one column for each block.
    """
    largest_term = np.minimum(first, last).max(axis=0)
    return np.asarray(np.maximum(first, last) > largest_term - _NEGLIGIBLE)
