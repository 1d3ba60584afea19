"""Sums of many weighted terms at many points, of which few matter at each: log Σ_k e^{f_k(x)}, every f_k monotone.

Points are taken in blocks. In a block every f_k lies between its values at the least and at the largest point; so a
term whose larger value lies e^−50 below the largest of the smaller ones adds nothing to the sum anywhere in the block.
Of some hundred terms that leaves out most, and what is left out is less than a rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

_NEGLIGIBLE = 50.0
"""A million terms so far below the largest add 2e-16 of it."""
_BLOCK, _FEWEST_POINTS, _FEWEST_TERMS = 256, 512, 6
_STEP = 4
"""Windows begin and end at multiples of so many terms, so that neighbouring blocks share one."""


class TermWindow(NamedTuple):
    """Consecutive points, and the consecutive terms that matter there."""

    points: slice
    terms: slice


def log_sums(logs: FloatArray) -> FloatArray:
    """log Σ e^{logs} over the first axis, −inf where every term is: one rounding for each term, and those of |logs|."""
    most = logs.max(axis=0)
    most = np.where(np.isneginf(most), 0.0, most)
    shares = logs - most
    np.exp(shares, out=shares)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares.sum(axis=0)) + most)


class PointRuns(NamedTuple):
    """Runs of consecutive points: where each starts, and where the last one ends, with its least and largest point."""

    stops: IntArray
    least: FloatArray
    largest: FloatArray


def blocks_of(terms: int, points: FloatArray) -> PointRuns | None:
    """Blocks of a line of points; None where all terms may as well be taken at all of them."""
    if terms < _FEWEST_TERMS or points.size < _FEWEST_POINTS:
        return None
    starts = np.arange(0, points.size, _BLOCK)
    least, largest = (np.asarray(bound.reduceat(points, starts)) for bound in (np.minimum, np.maximum))
    return PointRuns(np.append(starts, points.size), least, largest)


def windows(blocks: PointRuns, *terms: tuple[FloatArray, FloatArray]) -> Iterator[TermWindow]:
    """The terms that matter on each run of blocks, for one or several sums of the same number of terms.

    Args:
        blocks: of `blocks_of`.
        terms: of each sum, the terms at the least and at the largest point of each block, a row for each term.
    """
    needed = np.logical_or.reduce([_needed(first, last) for first, last in terms])
    count = needed.shape[0]
    low = np.argmax(needed, axis=0) // _STEP * _STEP
    high = np.minimum(-(-(count - np.argmax(needed[::-1], axis=0)) // _STEP) * _STEP, count)
    changes = np.flatnonzero((np.diff(low) != 0) | (np.diff(high) != 0)) + 1
    for first, last in _runs(changes.tolist(), low.size):
        points = slice(int(blocks.stops[first]), int(blocks.stops[last + 1]))
        yield TermWindow(points, slice(int(low[first]), int(high[first])))


def _runs(changes: Sequence[int], blocks: int) -> Iterator[tuple[int, int]]:
    yield from zip([0, *changes], [*(change - 1 for change in changes), blocks - 1], strict=True)


def _needed(first: FloatArray, last: FloatArray) -> FloatArray:
    """Terms that may matter in each block."""
    least = np.minimum(first, last).max(axis=0)
    return np.asarray(np.maximum(first, last) > least - _NEGLIGIBLE)
