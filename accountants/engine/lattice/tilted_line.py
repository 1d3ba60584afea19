"""Tilted lattice distributions, their characteristic functions, and the spectrum of their composition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import rfft

from epsilond.accountants.engine.lattice.powers import Factor, Power, raise_to_counts
from epsilond.accountants.engine.lattice.spectrum import ComplexArray, Kernel, Spectrum, Weights, sum_terms
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.engine.lattice.laws import LatticeComposition
    from epsilond.accountants.engine.lattice.spectrum import Chernoff
    from epsilond.accountants.numerics.special import FloatArray


_KEPT = 1e-21
"""Size of φ^T plus its error above which a frequency is used; the others are charged, a million of them 1e-15."""
_LONGEST_RUN = 64
"""Largest number of frequencies whose rotations are products of each other: a product costs a 64th of a sine."""
_BLOCK = 2**10
"""Number of outcomes, or runs, per block: their complex rotations take a megabyte, which fits the cache."""


@dataclass(frozen=True)
class TiltedDistribution:
    """A loss distribution on a lattice, tilted by λ: masses w ∝ p e^{λL} at lattice indices relative to its centre.

    Attributes:
        count: number T of rounds.
        index: lattice indices n, relative to the centre.
        weights: masses w, of sum one.
        errors: bounds on the relative errors of the weights.
        total_error: bound on the error of the sum of the weights.
    """

    count: int
    index: IntArray
    weights: FloatArray
    errors: FloatArray
    total_error: float


@dataclass(frozen=True)
class TiltedLine:
    """The lattice distributions of a composition, tilted: masses are multiplied by e^{λL} and divided by their sum.

    Attributes:
        laws: the distributions before the tilt.
        coordinate: λ as a coordinate.
        log_moments: log moment K_j(λ) of each distribution.
        moment_errors: bounds on their errors.
        weights: masses of all tilted distributions in one array, each of sum one.
        centres: lattice index nearest to the mean of each tilted distribution.
    """

    laws: LatticeComposition
    coordinate: TiltCoordinate
    log_moments: FloatArray
    moment_errors: FloatArray
    weights: FloatArray
    centres: IntArray

    @classmethod
    def of(cls, laws: LatticeComposition, coordinate: TiltCoordinate) -> TiltedLine:
        """Tilt the distributions and find their centres."""
        lam, flat = coordinate.tilt, laws.flat
        log_moments, errors = _log_moments(laws, lam)
        weights = flat.tilted_weights(lam, log_moments)
        centres = np.rint(flat.means(weights) / laws.unit).astype(np.int64)
        return cls(laws, coordinate, log_moments, errors, weights, centres)

    def parts(self) -> Iterator[TiltedDistribution]:
        """Yield the tilted distributions, with bounds on the errors of their masses."""
        flat = self.laws.flat
        starts = np.append(flat.starts, self.weights.size)
        exponent_sizes = np.abs(flat.log_mass) + 3.0 * abs(self.coordinate.tilt) * np.abs(flat.location)
        for j, (law, count) in enumerate(zip(self.laws.laws, self.laws.counts, strict=True)):
            span = slice(int(starts[j]), int(starts[j + 1]))
            relative_errors = UNIT_ROUNDOFF * (exponent_sizes[span] + abs(float(self.log_moments[j])) + 24.0)
            total_error = float(self.moment_errors[j])
            yield TiltedDistribution(
                count, law.index - self.centres[j], self.weights[span], relative_errors, total_error
            )


def _log_moments(laws: LatticeComposition, tilt: float) -> tuple[FloatArray, FloatArray]:
    """Return the log moment K_j(λ) = log Σ m e^{λL} of each distribution, and a bound on its error.

    With masses m of the finite losses L, mass a of the infinite loss and total mass 1 + x, the moment is 1 + c with

        c = Σ m (e^{λL} − 1) − a + x.

    log(1 + c) is accurate if the losses are small. If c is not moderate, log Σ m e^{λL} is computed directly.

    Args:
        laws: the lattice distributions.
        tilt: λ.

    Returns:
        K_j(λ) and a bound on its absolute error, one of each for every distribution.
    """
    flat = laws.flat
    exponents = tilt * flat.location
    log_peak = flat.largest(flat.log_mass + exponents)
    terms = _moment_changes(flat.log_mass, exponents)
    infinite_masses = np.exp([law.log_atom for law in laws.laws])
    excesses = np.asarray([law.excess for law in laws.laws])
    change = flat.sums(terms) - infinite_masses + excesses
    is_moderate = (log_peak < 500.0) & (change > -0.9)
    # Errors of the terms, in units of roundoff.
    term_units = np.abs(flat.log_mass) + 3.0 * np.abs(exponents) + flat.expand(flat.lengths.astype(np.float64)) + 32.0
    value = np.log1p(np.where(is_moderate, change, 0.0))
    term_error = UNIT_ROUNDOFF * flat.sums(np.abs(terms) * term_units) / np.exp(np.where(is_moderate, value, 0.0))
    error = term_error + 16 * UNIT_ROUNDOFF * np.exp(-value)
    direct_value, direct_error = flat.log_moments(tilt), UNIT_ROUNDOFF * flat.largest(term_units) * 2.0
    errors = 16 * UNIT_ROUNDOFF + np.where(is_moderate, error, direct_error)
    return np.where(is_moderate, value, direct_value), errors


def _moment_changes(log_mass: FloatArray, exponents: FloatArray) -> FloatArray:
    """Return m (e^x − 1) for the masses m and the exponents x, without cancellation for small x."""
    with np.errstate(over="ignore", invalid="ignore"):
        for_small = np.exp(log_mass) * np.expm1(np.clip(exponents, -1.0, 1.0))
        for_large = np.exp(np.minimum(log_mass + exponents, 600.0)) - np.exp(log_mass)
    return np.where(np.abs(exponents) < 1.0, for_small, for_large)


def build_spectrum(line: TiltedLine, size: int, power: Power, chernoff: Chernoff) -> Spectrum:
    """Build the sums over frequencies that give δ, from the characteristic function φ^T of the tilted composition.

    The terms are φ^T times the kernel, the factor of the transform in the integral for δ. Frequencies with negligible
    values are left out, and charged.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period.
        power: φ^T on the computed frequencies.
        chernoff: bounds of the alias, the error of the sum by its period.

    Returns:
        The sums, with all errors, from which δ is enclosed at any ε.
    """
    sizes = np.exp(power.log_size)
    errors = _power_errors(power, sizes)
    is_used = sizes + errors > _KEPT
    is_used[:1] = True
    frequencies, used_sizes = power.frequencies[is_used], sizes[is_used]
    kernel = Kernel.at(frequencies, size, line.laws.unit, line.coordinate).values
    kernel_sizes = np.abs(kernel)
    terms = _polar(used_sizes, power.angle[is_used]) * kernel
    counts = line.laws.counts
    log_factors = [count * float(log_moment) for count, log_moment in zip(counts, line.log_moments, strict=True)]
    longest = float(line.laws.flat.lengths.max())
    return Spectrum(
        coordinate=line.coordinate,
        unit=line.laws.unit,
        size=size,
        centre=sum(count * int(centre) for count, centre in zip(counts, line.centres, strict=True)),
        log_prefactor=math.fsum(log_factors),
        rounding=UNIT_ROUNDOFF * (len(log_factors) + 4.0) * math.fsum(map(abs, log_factors)),
        sums=sum_terms(size, frequencies, terms),
        weights=Weights(float(used_sizes @ kernel_sizes), float(errors[is_used] @ kernel_sizes)),
        skipped=power.skipped + float((sizes + errors)[~is_used].sum()),
        chernoff=chernoff,
        alias_slack=1e-3 + 4 * UNIT_ROUNDOFF * (longest + 64.0) * float(sum(counts)),
    )


def _power_errors(power: Power, sizes: FloatArray) -> FloatArray:
    """Return bounds on the errors |φ^T| (e^g − 1) of the characteristic function φ^T at each frequency.

    They are |φ^T| (g + g²) for g < 1, and |φ^T| e^g otherwise, with an exponent of at most 700.

    Args:
        power: φ^T with the growth g of its errors.
        sizes: |φ^T|.

    Returns:
        One bound for each frequency.
    """
    growth = power.growth
    errors = sizes * growth * (1.0 + growth)
    is_large = np.flatnonzero(growth >= 1.0)
    errors[is_large] = np.exp(np.minimum(power.log_size[is_large] + growth[is_large], 700.0))
    return errors


def _polar(sizes: FloatArray, angles: FloatArray) -> ComplexArray:
    """Return the complex numbers with given moduli and with minus the given angles."""
    values = np.empty(sizes.size, dtype=np.complex128)
    np.multiply(sizes, np.cos(angles), out=values.real)
    np.multiply(-sizes, np.sin(angles), out=values.imag)
    return values


# Characteristic functions of lattice distributions, summed directly at chosen frequencies -----------------------------
def few_frequencies(line: TiltedLine, size: int, frequencies: IntArray, skipped: float) -> Power:
    """Compute the characteristic function φ^T of a tilted composition at some frequencies, by direct sums.

    It is the product of φ_j^{T_j} over the distributions j, with their numbers of rounds T_j.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period; the angle is θ = 2πkn/N at frequency k and index n.
        frequencies: indices k of the frequencies, increasing.
        skipped: bound of Σ |φ^T| over all other frequencies.

    Returns:
        φ^T with its error where it is not negligible. The bound for the other frequencies is added to `skipped`.
    """
    split = _SplitFrequencies.of(frequencies)

    def factors() -> Iterator[Factor]:
        for law in line.parts():
            values = 1.0 + split.transform_less_one(law, size)
            yield Factor(values, _direct_sum_error(law, size, frequencies))

    return raise_to_counts(line.laws.counts, frequencies, factors(), skipped)


def _direct_sum_error(law: TiltedDistribution, size: int, frequencies: IntArray) -> FloatArray:
    """Return bounds on the errors of direct sums φ − 1 = Σ w (e^{−iθ} − 1) for a characteristic function φ.

    The sums are those of `_SplitFrequencies`. A term is a sum of products of x − 1 and y − 1 with
    |x − 1| + |y − 1| + |(x − 1)(y − 1)| ≤ min(4θ, 8).

    Args:
        law: the tilted distribution, with weights w.
        size: number N of lattice points in a period; the angle is θ = 2πkn/N at frequency k and index n.
        frequencies: indices k.

    Returns:
        One bound for each frequency.

    Source: docs/engine-certificate.md, A4.
    """
    summation_error = (law.index.size + 64) * UNIT_ROUNDOFF
    mean_index = float(law.weights @ np.abs(law.index))
    sizes = 4.0 * mean_index * (2.0 * np.pi / size) * frequencies
    error = (summation_error + float(law.errors.max())) * np.minimum(sizes, 8.0)
    return np.asarray(error + law.total_error + 8 * UNIT_ROUNDOFF)


@dataclass(frozen=True)
class _SplitFrequencies:
    """Increasing frequencies k ≥ 0, written as k = r a + b with 0 ≤ b < r, to compute fewer sines and cosines.

    With x = e^{−iθ} at r a and y at b, Σ w (xy − 1) = Σ w ((x − 1)(y − 1) + (x − 1) + (y − 1)) is a product of
    matrices, so sines are computed only for each r a and each b. Their number is least for r = √(number of
    frequencies), if the frequencies are consecutive. Neither angle exceeds the full angle.

    Attributes:
        length: r.
        starts: the distinct r a.
        row: for each frequency the index of its r a in `starts`.
        column: b of each frequency.
    """

    length: int
    starts: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, frequencies: IntArray) -> _SplitFrequencies:
        """Write increasing frequencies as k = r a + b, with one r for all of them."""
        length = min(math.isqrt(frequencies.size) + 1, _LONGEST_RUN)
        column = frequencies % length
        starts, row = np.unique(frequencies - column, return_inverse=True)
        return cls(length, starts, row, column)

    def transform_less_one(self, law: TiltedDistribution, size: int) -> ComplexArray:
        """Return φ − 1 = Σ w (e^{−iθ} − 1) at each frequency.

        The values of r a are taken in blocks whose tables fit into the cache.

        Args:
            law: the tilted distribution, with weights w.
            size: number N of lattice points in a period; the angle is θ = 2πkn/N at frequency k and index n.
        """
        sums = np.zeros(self.row.size, dtype=np.complex128)
        for first in range(0, self.starts.size, _BLOCK):
            table = self._sum_table(law, size, self.starts[first : first + _BLOCK])
            low, high = np.searchsorted(self.row, (first, first + _BLOCK)).tolist()
            sums[low:high] = table[self.row[low:high] - first, self.column[low:high]]
        return sums

    def _sum_table(self, law: TiltedDistribution, size: int, starts: IntArray) -> ComplexArray:
        """Return φ − 1 at the frequencies r a + b for some r a (rows) and every b (columns).

        φ(k) = Σ w_n e^{iθ} for weights w_n at lattice indices n, with θ = 2πkn/N up to its sign. For k = r a + b each
        term is a product xy of a coarse and a fine rotation. It is summed as xy − 1 = (x − 1)(y − 1) + (x − 1) + (y −
        1), which does not cancel near 1.

        Args:
            law: masses on lattice indices, multiplied by e^{λL} for a tilt λ and normalised.
            size: number N of lattice points in a period.
            starts: frequencies r a of the rows.
        """
        table = np.zeros((starts.size, self.length), dtype=np.complex128)
        for first in range(0, law.index.size, _BLOCK):
            index, weights = law.index[first : first + _BLOCK], law.weights[first : first + _BLOCK]
            fine = _rotate(index, np.arange(self.length), size)  # y − 1
            table += weights @ fine
            for row in range(0, starts.size, _LONGEST_RUN):
                weighted_coarse = _rotate(index, starts[row : row + _LONGEST_RUN], size)  # x − 1
                weighted_coarse *= weights[:, None]
                table[row : row + _LONGEST_RUN] += weighted_coarse.T @ fine + weighted_coarse.sum(axis=0)[:, None]
        return table


def _rotate(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """Return e^{−iθ} − 1 = −2 sin²(θ/2) − 2i sin(θ/2) cos(θ/2) for the angles θ = 2πkn/N.

    Products k n below 2^53 are reduced modulo N exactly.

    Args:
        index: lattice indices n, a row of the result for each.
        frequencies: indices k, a column for each.
        size: N.

    Returns:
        A complex matrix with one row for each index n and one column for each frequency k.
    """
    half_angle = np.multiply.outer(index.astype(np.float64), frequencies.astype(np.float64))
    half_angle -= size * np.rint(half_angle / size)
    half_angle *= np.pi / size
    sine = np.sin(half_angle)
    return np.asarray(-2.0 * sine * (sine + 1j * np.cos(half_angle)))


def all_frequencies(line: TiltedLine, size: int, frequencies: IntArray | None = None, skipped: float = 0.0) -> Power:
    """Compute the characteristic function φ^T of a tilted composition by one FFT of each distribution.

    It is the product of φ_j^{T_j} over the distributions j, with their numbers of rounds T_j.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period.
        frequencies: indices of the frequencies, from 0 to N/2. If None, all are used.
        skipped: bound of Σ |φ^T| over all other frequencies.

    Returns:
        φ^T with its error where it is not negligible. The bound for the other frequencies is added to `skipped`.
    """
    chosen = np.arange(size // 2 + 1, dtype=np.int64) if frequencies is None else frequencies
    factors = (_transform(law, size, frequencies) for law in line.parts())
    return raise_to_counts(line.laws.counts, chosen, factors, skipped)


def _transform(law: TiltedDistribution, size: int, frequencies: IntArray | None) -> Factor:
    """Compute the characteristic function φ of one tilted distribution by an FFT.

    Masses at indices that are equal modulo N are first added up, which is exact at these frequencies. The mass at the
    centre is added exactly afterwards; only the other masses go through the FFT.

    Args:
        law: masses on lattice indices, multiplied by e^{λL} for a tilt λ and normalised.
        size: number N of lattice points in a period.
        frequencies: indices of the frequencies, from 0 to N/2. If None, all are used.

    Returns:
        The computed values, and one bound on their absolute errors.
    """
    is_central = law.index == 0
    off_centre = np.where(is_central, 0.0, law.weights)
    # The butterflies err by 5u log₂N (B3), doubled for radix 3 and 5. Wrapping and the weights have errors too.
    most_wrapped = float(np.bincount(law.index % size).max())
    error = UNIT_ROUNDOFF * (10.0 * math.log2(size) + 16.0 + most_wrapped) * float(off_centre.sum())
    error += float(law.weights @ law.errors) + 4 * UNIT_ROUNDOFF
    values = rfft(wrap(law.index, off_centre, size))
    if frequencies is not None:
        values = values[frequencies]
    return Factor(float(law.weights[is_central].sum()) + values, error)


def wrap(index: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Sum weights over indices that are equal modulo `size`.

    The discrete Fourier transform of length `size` cannot distinguish such indices, so the sums have the same
    transform.

    Args:
        index: lattice indices, of any sign.
        weights: one weight per index.
        size: length of the result.

    Returns:
        Entry k is the sum of the weights at indices that are k modulo `size`.
    """
    return np.asarray(np.bincount(index % size, weights=weights, minlength=size), dtype=np.float64)
