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
"""Largest r in k = r a + b, and number of coarse frequencies per block."""
_BLOCK = 2**10
"""Number of outcomes per block. Their complex rotations at 64 frequencies take a megabyte, which fits the cache."""


@dataclass(frozen=True)
class SplitFrequencies:
    """Increasing frequencies k ≥ 0, written as k = r a + b with 0 ≤ b < r, to compute fewer sines and cosines.

    A characteristic function is a sum of rotations e^{−iθ} with weights w, where the angle θ is proportional to k. Each
    rotation is the product of a coarse rotation x for r a and a fine rotation y for b. Therefore the sum:

        Σ w (xy − 1) = Σ w ((x − 1) (y − 1) + (x − 1) + (y − 1))

    is a product of matrices. Sines are computed only for each r a and each b. For consecutive frequencies this number
    is least if r is about the square root of their number. The sums form a table with a row for each distinct r a, and
    a column for each b.

    Attributes:
        length: number r of columns, at least 1 and at most `_LONGEST_RUN`.
        starts: r a of each row, increasing.
        row: index of the row of each frequency k.
        column: column b of each frequency k.
    """

    length: int
    starts: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, frequencies: IntArray) -> SplitFrequencies:
        """Split frequencies k into a coarse and a fine part, k = r a + b with 0 ≤ b < r, for one suitable r.

        Args:
            frequencies: indices k ≥ 0, increasing.

        Returns:
            The distinct coarse frequencies r a, and the positions of both parts of each k in a table of r a and b.
        """
        length = min(math.isqrt(frequencies.size) + 1, _LONGEST_RUN)
        column = frequencies % length
        starts, row = np.unique(frequencies - column, return_inverse=True)
        return cls(length, starts, row, column)

    def transform_less_one(self, index: IntArray, weights: FloatArray, size: int) -> ComplexArray:
        """Compute the characteristic function φ of a lattice distribution, minus 1, at each frequency k.

        The sum over lattice indices n, with probabilities w_n, is:

            φ(k) − 1 = Σ_n w_n (e^{−2πikn/N} − 1).

        It does not cancel at small angles, where φ is near 1.

        Args:
            index: lattice indices n of the outcomes, of any sign.
            weights: probability w_n of each outcome.
            size: number N of lattice points in a period.

        Returns:
            One complex value for each frequency.
        """
        values = np.zeros(self.row.size, dtype=np.complex128)
        # Blocks of coarse frequencies limit the memory of a table.
        for first_row in range(0, self.starts.size, _BLOCK):
            block_of_starts = self.starts[first_row : first_row + _BLOCK]
            table = self._sum_table(index, weights, size, block_of_starts)
            # The rows increase, so that the frequencies of a block are consecutive.
            low, high = np.searchsorted(self.row, (first_row, first_row + _BLOCK)).tolist()
            values[low:high] = table[self.row[low:high] - first_row, self.column[low:high]]
        return values

    def _sum_table(self, index: IntArray, weights: FloatArray, size: int, starts: IntArray) -> ComplexArray:
        """Compute the characteristic function φ minus 1 at frequencies r a + b, for given r a (rows), all b (columns).

        The sum over lattice indices n, with a coarse rotation x and a fine rotation y of each n, is:

            φ − 1 = Σ w_n (xy − 1) = Σ w_n ((x − 1) (y − 1) + (x − 1) + (y − 1)).

        The last form does not cancel near 1. Blocks of outcomes and of rows limit the memory.

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
            fine = _rotate_less_one(block_index, fine_frequencies, size)  # y − 1
            table += block_weights @ fine  # the same in each row
            for row in range(0, starts.size, _LONGEST_RUN):
                weighted_coarse = _rotate_less_one(block_index, starts[row : row + _LONGEST_RUN], size)  # x − 1
                weighted_coarse *= block_weights[:, None]
                products = weighted_coarse.T @ fine
                coarse_sums = weighted_coarse.sum(axis=0)[:, None]
                table[row : row + _LONGEST_RUN] += products + coarse_sums
        return table


def _rotate_less_one(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """Compute e^{−iθ} − 1 for the angles θ = 2πkn/N of lattice indices n and frequencies k.

    The form that does not cancel at small angles is:

        e^{−iθ} − 1 = −2 sin²(θ/2) − 2i sin(θ/2) cos(θ/2).

    Products k n below 2^53 are reduced modulo N exactly.

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
