"""Characteristic functions of tilted lattice distributions, raised to their counts and multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.engine.lattice.periodic.sums import ComplexArray
from epsilond.accountants.engine.lattice.spectrum import TINY
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray

BoolArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"

_NEGLIGIBLE = -60.0
"""log |φ^T| below which a frequency is dropped early: a million of them add 1e-20."""
_ROUNDING = 8 * UNIT_ROUNDOFF
"""Relative rounding of |φ| and of the ratio of its error to it."""


class Factor(NamedTuple):
    """Computed characteristic function φ of one tilted distribution on some frequencies.

    A tilted distribution has its mass at loss L multiplied by e^{λL} and normalised, so that |φ| ≤ 1.

    Attributes:
        values: computed values φ̂, one for each frequency.
        error: bound on |φ̂ − φ|, for each frequency or for all.
    """

    values: ComplexArray
    error: FloatArray | float


class Power(NamedTuple):
    """The characteristic function of T rounds, φ^T, at some frequencies, with bounds on its errors.

    Attributes:
        frequencies: indices of the frequencies.
        log_size: log |φ^T|.
        angle: angle of φ^T in radians, of any size.
        growth: number g such that the error of the computed φ^T is at most (e^g − 1) times its modulus.
        skipped: bound on Σ |φ^T| over all other frequencies.
    """

    frequencies: IntArray
    log_size: FloatArray
    angle: FloatArray
    growth: FloatArray
    skipped: float


def raise_to_counts(counts: Sequence[int], frequencies: IntArray, factors: Iterator[Factor], skipped: float) -> Power:
    """Compute the characteristic function of a composition, the product Π φ_j^{T_j}, in logarithms.

    Here φ_j is the characteristic function of distribution j, and T_j its number of rounds. The product of the bounds
    (|φ̂_j| + error)^{T_j} so far may prove that the whole product is negligible at a frequency, because the other |φ_j|
    are at most one. The frequency is then dropped, and its bound is added to `skipped`.

    Args:
        counts: number T_j of rounds of each distribution.
        frequencies: indices of the frequencies.
        factors: computed φ̂_j on these frequencies with its error, for each distribution in turn.
        skipped: bound of Σ |φ^T| over all other frequencies.

    Returns:
        The product on the frequencies that remain, as log modulus and angle, with `growth` for its error. Its `skipped`
        includes the bounds for the dropped frequencies.

    Guarantees:
        The computed product φ̂ satisfies |φ̂ − Π φ_j^{T_j}| ≤ |φ̂| (e^growth − 1).

    Source: docs/engine-certificate.md, A4.
    """
    product = _RunningProduct.of_ones(frequencies.size, skipped)
    for count, factor in zip(counts, factors, strict=True):
        error_at_each = np.broadcast_to(factor.error, frequencies.shape)
        values, errors = factor.values[product.remaining], error_at_each[product.remaining]
        is_relevant = product.update_bound(count, values, errors)
        # Negligible frequencies are dropped first, because a multiplication costs more than a bound.
        if not is_relevant.all():
            product.drop_all_except(is_relevant)
            values, errors = values[is_relevant], errors[is_relevant]
        product.multiply(count, values, errors)
    remaining_frequencies = frequencies[product.remaining]
    return Power(remaining_frequencies, product.log_size, product.angle, product.growth, product.skipped)


@dataclass
class _RunningProduct:
    """The product of powers φ_j^{T_j} of characteristic functions so far, at the frequencies that are not dropped.

    A frequency is dropped once the absolute value of the product there is negligible.

    Attributes:
        remaining: positions of these frequencies among all of them.
        log_size: log of the product's absolute value.
        angle: angle of the product, in radians.
        growth: number g such that the error of the product is at most e^g − 1 times its absolute value.
        log_bound: log of an upper bound on the exact product's absolute value.
        skipped: bound on the sum of |final product| over all other frequencies.
    """

    remaining: IntArray
    log_size: FloatArray
    angle: FloatArray
    growth: FloatArray
    log_bound: FloatArray
    skipped: float

    @classmethod
    def of_ones(cls, size: int, skipped: float) -> _RunningProduct:
        """Build the product before the first factor, which is 1 at every frequency and has no error.

        Args:
            size: number of frequencies.
            skipped: bound on the sum of |final product| over all other frequencies.

        Returns:
            The product at all frequencies.
        """
        log_size, angle, growth, log_bound = (np.zeros(size) for _ in range(4))
        return cls(np.arange(size), log_size, angle, growth, log_bound, skipped)

    def update_bound(self, count: int, values: ComplexArray, errors: FloatArray) -> BoolArray:
        """Multiply the upper bound on |product| by that of one more power φ^T, and return where it is not negligible.

        The bound on |φ| is |φ̂| plus its error. It is limited to 1, because |φ| of a distribution is at most 1.

        Args:
            count: exponent T.
            values: computed φ̂ on the remaining frequencies.
            errors: bounds on |φ̂ − φ|.

        Returns:
            A mask of the frequencies at which the bound is above e^−60.
        """
        square = values.real * values.real + values.imag * values.imag
        largest_modulus = np.sqrt(square) + errors + _ROUNDING  # |φ̂| ≤ 1 about, so its rounding is below `_ROUNDING`
        self.log_bound += count * np.minimum(np.log(largest_modulus), 0.0)
        return self.log_bound > _NEGLIGIBLE

    def drop_all_except(self, is_relevant: BoolArray) -> None:
        """Drop the frequencies at which the product is negligible, and add their bounds to `skipped`.

        Args:
            is_relevant: mask of the frequencies that remain.
        """
        dropped_sum = float(np.exp(self.log_bound[~is_relevant]).sum())
        rounding_factor = 1.0 + 1e-9  # far more than the error of a sum
        self.skipped += dropped_sum * rounding_factor
        self.remaining = self.remaining[is_relevant]
        self.log_size, self.angle = self.log_size[is_relevant], self.angle[is_relevant]
        self.growth, self.log_bound = self.growth[is_relevant], self.log_bound[is_relevant]

    def multiply(self, count: int, values: ComplexArray, errors: FloatArray) -> None:
        """Multiply the product by a power φ^T of a characteristic function, and update its error bound.

        The error bound `growth` increases by T log(1 + error/|φ̂|), and by the rounding errors of the logarithm and of
        the angle. These are multiplied by T too.

        Args:
            count: exponent T.
            values: computed φ̂ on the remaining frequencies.
            errors: bounds on |φ̂ − φ|.
        """
        log_modulus, angle, modulus = _log_polar(values)
        self.log_size += count * log_modulus

        # Subtract the nearest multiple of 2π, which keeps the sum small and so its rounding error.
        rotation = count * angle
        full_turns = np.rint(rotation / (2.0 * np.pi))
        self.angle += rotation - 2.0 * np.pi * full_turns

        self.growth += count * (1.0 + _ROUNDING) * np.log1p(errors / modulus)
        # Roundings of the logarithm and of the angle of φ, T times, and of the two sums.
        self.growth += (4 * UNIT_ROUNDOFF * count) * (np.abs(log_modulus) + np.abs(angle))
        self.growth += UNIT_ROUNDOFF * (np.abs(self.log_size) + np.abs(self.angle))


def _log_polar(values: ComplexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute log |φ|, the angle of φ and |φ| of complex numbers φ.

    Near |φ| = 1 the logarithm is computed from |φ|² − 1. Otherwise digits would be lost, and a large power of φ would
    magnify the error.

    Args:
        values: the numbers φ. A modulus below 1e-150 counts as 1e-150 in the logarithm and the modulus.

    Returns:
        Natural logarithms of the moduli, angles in radians in [−π, π], and moduli.
    """
    real, imaginary = values.real, values.imag
    square_minus_one = (real - 1.0) * (real + 1.0) + imaginary * imaginary  # |φ|² − 1
    square = np.maximum(1.0 + square_minus_one, TINY)

    is_near_one = np.abs(square_minus_one) < 0.5
    log_modulus = np.empty(square.size)
    log_modulus[is_near_one] = 0.5 * np.log1p(square_minus_one[is_near_one])
    log_modulus[~is_near_one] = 0.5 * np.log(square[~is_near_one])
    return log_modulus, np.arctan2(imaginary, real), np.sqrt(square)
