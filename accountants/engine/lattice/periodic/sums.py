"""Fourier sums Re Σ_k a_k e^{−2πikn/N} at lattice points n: one at a time, or all of them by one FFT."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.fft import irfft

from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_MOST_STORED = 64
"""Largest number of lattice points whose sums are stored: about those of one search."""
_DENSE_SHARE, _MOST_IN_TABLE = 32, 2**20
"""Share 1/32 of the N frequencies above which one FFT replaces a few sums, and its largest N: a table of 8 MB."""


@dataclass(frozen=True)
class DirectSums:
    """Fourier sums Re Σ_k a_k e^{−2πikn/N} over few frequencies k, evaluated for one lattice point n at a time.

    Attributes:
        size: number N of lattice points in a period.
        frequencies: indices k of the frequencies, integers from 0 to N/2.
        terms: complex coefficient a_k of each frequency.
        _stored_sums: latest results of `at`, with the lattice point n as the key.
    """

    size: int
    frequencies: IntArray
    terms: ComplexArray
    _stored_sums: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes."""
        return self.frequencies.nbytes + self.terms.nbytes

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of a sum, relative to Σ |a_k| (docs/engine-certificate.md, B3)."""
        return (self.frequencies.size + 8) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Evaluate the Fourier sum at a lattice point n and at the next point n + 1.

        The two values are stored, so that a second evaluation at the same point costs nothing. All stored values are
        dropped once there are `_MOST_STORED`.

        Args:
            offset: lattice point n, 0 ≤ n < N.

        Returns:
            Re Σ_k a_k e^{−2πikn/N}, and the same sum with n + 1 in place of n.
        """
        stored_sums = self._stored_sums.get(offset)
        if stored_sums is not None:
            return stored_sums

        # The terms at n + 1 are those at n, each rotated once more.
        angle_per_turn = -2j * np.pi / self.size
        rotated_terms = self.terms * np.exp(angle_per_turn * self.turns(offset))
        sum_at_point = float(rotated_terms.real.sum())
        rotated_terms *= np.exp(angle_per_turn * self.frequencies)
        sum_at_next_point = float(rotated_terms.real.sum())

        if len(self._stored_sums) >= _MOST_STORED:
            self._stored_sums.clear()
        self._stored_sums[offset] = sum_at_point, sum_at_next_point
        return sum_at_point, sum_at_next_point

    def turns(self, offset: int) -> FloatArray:
        """Compute k n modulo N for each frequency k and one lattice point n, without rounding or overflow.

        For N below 2^31 the products k n fit 64-bit integers. For a larger N the digits of n in base 16 are used one by
        one, with a reduction modulo N after each. No N reaches 2^58, so no intermediate number reaches 2^63.

        Args:
            offset: lattice point n, 0 ≤ n < N.

        Returns:
            The number k n modulo N for each k, a whole number as a double.
        """
        if self.size < 2**31:
            return ((self.frequencies * offset) % self.size).astype(np.float64)
        # Horner's method for the hexadecimal digits of n: (16 · previous + digit · k) modulo N.
        turns = np.zeros_like(self.frequencies)
        for hexadecimal_digit in format(offset, "x"):
            digit = int(hexadecimal_digit, 16)
            turns = (16 * turns + digit * self.frequencies) % self.size
        return turns.astype(np.float64)


@dataclass(frozen=True)
class TabulatedSums:
    """Table of the Fourier sums Re Σ_k a_k e^{−2πikn/N} at every lattice point n of a period, computed by one FFT.

    Attributes:
        table: the sum at each lattice point 0 ≤ n < N.
    """

    table: FloatArray

    @classmethod
    def of(cls, size: int, frequencies: IntArray, terms: ComplexArray) -> TabulatedSums:
        """Compute the Fourier sums at all lattice points by one inverse real FFT.

        The sum at the lattice point n is Re Σ_k a_k e^{−2πikn/N}. The inverse FFT divides by N, has the opposite sign
        in the exponent, and counts each frequency k together with its mirror image N − k. Therefore the coefficient of
        k is N/2 times the complex conjugate of a_k. It is twice as large if k is its own mirror image.

        Args:
            size: number N of lattice points in a period.
            frequencies: indices k of the frequencies, integers from 0 to N/2.
            terms: complex coefficient a_k of each frequency.

        Returns:
            The table, with one sum for each lattice point.
        """
        coefficients = np.zeros(size // 2 + 1, dtype=np.complex128)
        coefficients[frequencies] = 0.5 * size * np.conj(terms)
        coefficients[0] *= 2.0
        if size % 2 == 0:
            coefficients[-1] *= 2.0  # the frequency N/2, which only an even N has
        return cls(np.asarray(irfft(coefficients, size)))

    @property
    def nbytes(self) -> int:
        """Size of the array, in bytes."""
        return self.table.nbytes

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of the FFT, relative to Σ |a_k| (docs/engine-certificate.md, B3)."""
        return (10.0 * math.log2(self.table.size) + 16.0) * UNIT_ROUNDOFF

    def at(self, offset: int) -> tuple[float, float]:
        """Return the sums at a lattice point n and at the next one, n + 1.

        Args:
            offset: lattice point n, 0 ≤ n < N. The point after the last one is 0, because the sums are periodic.

        Returns:
            The sum at n, and the sum at n + 1.
        """
        next_offset = (offset + 1) % self.table.size
        return float(self.table[offset]), float(self.table[next_offset])


Sums: TypeAlias = DirectSums | TabulatedSums


def sum_terms(size: int, frequencies: IntArray, terms: ComplexArray) -> Sums:
    """Prepare Fourier sums for evaluation at lattice points: as a table by one FFT, or one sum at a time.

    The sum at the lattice point n is Re Σ_k a_k e^{−2πikn/N}. A search evaluates only a few points. Even so, one FFT
    for all N points is cheaper if there are more than N/32 frequencies. It is used if N is at most 2^20.

    Args:
        size: number N of lattice points in a period.
        frequencies: indices k of the frequencies, integers from 0 to N/2.
        terms: complex coefficient a_k of each frequency.

    Returns:
        The table, or an object that evaluates each sum when it is requested.
    """
    is_dense = frequencies.size * _DENSE_SHARE > size
    if is_dense and size <= _MOST_IN_TABLE:
        return TabulatedSums.of(size, frequencies, terms)
    return DirectSums(size, frequencies, terms)
