"""Characteristic functions of lattice distributions at chosen frequencies, by direct sums over the outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.periodic.sums import ComplexArray
    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray

_LONGEST_RUN = 64
"""Largest number of frequencies whose rotations are products of each other: a product costs a 64th of a sine."""
_BLOCK = 2**10
"""Number of outcomes, or runs, per block: their complex rotations take a megabyte, which fits the cache."""


@dataclass(frozen=True)
class SplitFrequencies:
    """Increasing frequencies k ≥ 0, written as k = r a + b with 0 ≤ b < r, to compute fewer sines and cosines.

    The characteristic function is a sum of weighted rotations e^{−iθ}, with an angle θ proportional to k. A rotation
    is the product of a coarse rotation x for r a and a fine rotation y for b. Therefore

        Σ w (xy − 1) = Σ w ((x − 1) (y − 1) + (x − 1) + (y − 1))

    is a product of matrices, and sines are computed only for each r a and each b. Their number is least for
    r = √(number of frequencies), if the frequencies are consecutive. Neither angle exceeds the full angle.

    Attributes:
        length: r, at most `_LONGEST_RUN`.
        starts: the distinct coarse frequencies r a, increasing.
        row: for each frequency the index of its r a in `starts`.
        column: b of each frequency.
    """

    length: int
    starts: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, frequencies: IntArray) -> SplitFrequencies:
        """Split frequencies k into a coarse and a fine part, k = r a + b with 0 ≤ b < r, with one r for all of them.

        Args:
            frequencies: indices k ≥ 0, increasing.

        Returns:
            The coarse frequencies r a, and for each k its two parts.
        """
        # About √n values of both parts make the sums over them cheapest.
        length = min(math.isqrt(frequencies.size) + 1, _LONGEST_RUN)
        column = frequencies % length
        # Each different coarse frequency is one row; `row` and `column` locate k in the table.
        starts, row = np.unique(frequencies - column, return_inverse=True)
        return cls(length, starts, row, column)

    def transform_less_one(self, index: IntArray, weights: FloatArray, size: int) -> ComplexArray:
        """Return the characteristic function φ of a lattice distribution, minus 1, at each frequency.

        The result is φ − 1 = Σ_n w_n (e^{−iθ} − 1), with the angle θ = 2πkn/N at frequency k and lattice index n.

        φ − 1 is small at small angles, so it is summed without the 1, which would cost digits. The coarse frequencies
        are taken in blocks whose tables fit into the cache.

        Args:
            index: lattice indices n of the outcomes, of any sign.
            weights: probability w_n of each outcome.
            size: number N of lattice points in a period.

        Returns:
            One complex value for each frequency.
        """
        values = np.zeros(self.row.size, dtype=np.complex128)
        for first_row in range(0, self.starts.size, _BLOCK):
            block_of_starts = self.starts[first_row : first_row + _BLOCK]
            table = self._sum_table(index, weights, size, block_of_starts)
            # The rows increase, so that the frequencies of a block are consecutive.
            low, high = np.searchsorted(self.row, (first_row, first_row + _BLOCK)).tolist()
            values[low:high] = table[self.row[low:high] - first_row, self.column[low:high]]
        return values

    def _sum_table(self, index: IntArray, weights: FloatArray, size: int, starts: IntArray) -> ComplexArray:
        """Return the characteristic function φ minus 1 in a table of coarse and fine frequencies.

        The frequencies are r a + b for some coarse frequencies r a (rows) and every b (columns).

        Each term of the sum over lattice indices n is w_n (xy − 1), with a coarse rotation x and a fine rotation y. It
        is summed as w_n ((x − 1) (y − 1) + (x − 1) + (y − 1)), which does not cancel near 1. Both the outcomes and the
        rows are taken in blocks, to bound the memory.

        Args:
            index: lattice indices n of the outcomes.
            weights: probability w_n of each outcome.
            size: number N of lattice points in a period.
            starts: coarse frequencies r a of the rows.

        Returns:
            A complex table of φ − 1, with one row for each coarse frequency and one column for each b.
        """
        table = np.zeros((starts.size, self.length), dtype=np.complex128)
        fine_frequencies = np.arange(self.length)
        for first in range(0, index.size, _BLOCK):
            block_index = index[first : first + _BLOCK]
            block_weights = weights[first : first + _BLOCK]
            # Terms w_n (y − 1), which are the same in each row.
            fine = _rotate(block_index, fine_frequencies, size)  # y − 1
            table += block_weights @ fine
            for row in range(0, starts.size, _LONGEST_RUN):
                # Terms with x − 1, for a block of rows.
                weighted_coarse = _rotate(block_index, starts[row : row + _LONGEST_RUN], size)  # x − 1
                weighted_coarse *= block_weights[:, None]
                products = weighted_coarse.T @ fine
                coarse_sums = weighted_coarse.sum(axis=0)[:, None]
                table[row : row + _LONGEST_RUN] += products + coarse_sums
        return table


def _rotate(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """Return complex rotations minus 1, without cancellation at small angles.

    The numbers are e^{−iθ} − 1 for the angles θ = 2πkn/N of lattice indices n and frequencies k.

    It is computed as −2 sin²(θ/2) − 2i sin(θ/2) cos(θ/2), without cancellation at small angles. Products k n below 2^53
    are reduced modulo N exactly.

    Args:
        index: lattice indices n, a row of the result for each.
        frequencies: frequencies k, a column for each.
        size: number N of lattice points in a period.

    Returns:
        A complex matrix with one row for each index n and one column for each frequency k.
    """
    half_angle = np.multiply.outer(index.astype(np.float64), frequencies.astype(np.float64))
    # Subtract the nearest multiple of N from k n, and turn the rest into the half angle θ/2 = πkn/N.
    half_angle -= size * np.rint(half_angle / size)
    half_angle *= np.pi / size
    sine = np.sin(half_angle)
    return np.asarray(-2.0 * sine * (sine + 1j * np.cos(half_angle)))
