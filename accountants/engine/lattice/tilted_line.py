"""Tilted lattice distributions, their characteristic functions, and the spectrum of their composition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import rfft

from epsilond.accountants.engine.lattice.periodic.direct_transform import SplitFrequencies
from epsilond.accountants.engine.lattice.periodic.sums import ComplexArray, sum_terms
from epsilond.accountants.engine.lattice.powers import Factor, Power, raise_to_counts
from epsilond.accountants.engine.lattice.spectrum import Kernel, Spectrum, Weights
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.engine.lattice.laws import LatticeComposition
    from epsilond.accountants.engine.lattice.spectrum import Chernoff
    from epsilond.accountants.numerics.special import FloatArray


_KEPT = 1e-21
"""Size of φ^T plus its error above which a frequency is used; the others widen the bounds, a million of them 1e-15."""


@dataclass(frozen=True)
class TiltedDistribution:
    """A loss distribution on a lattice with exponentially tilted masses, which are proportional to p e^{λL}.

    Here p is the probability of a loss L before the tilt λ. Indices are relative to a lattice point near the mean, so
    that the angle of the characteristic function changes slowly with the frequency.

    Attributes:
        count: number T of rounds in which the loss occurs.
        index: lattice indices n of the losses, relative to the centre.
        weights: tilted probability of each loss, of sum 1.
        errors: bounds on the relative errors of the weights.
        total_error: bound on the error of the sum of the weights, due to the log moment.
    """

    count: int
    index: IntArray
    weights: FloatArray
    errors: FloatArray
    total_error: float


@dataclass(frozen=True)
class TiltedLine:
    """The lattice distributions of a composition, all tilted by the same λ.

    A mass p at a loss L becomes p e^{λL}/e^{K(λ)}, with the log moment K(λ) = log Σ p e^{λL}. Each distribution is
    centred at a lattice point near its mean.

    Attributes:
        laws: the distributions before the tilt, with their numbers of rounds.
        coordinate: the tilt λ, as a real coordinate y that covers all valid tilts.
        log_moments: log moment K_j(λ) of each distribution j.
        moment_errors: bounds on the absolute errors of the log moments.
        weights: tilted masses of all distributions in one array, each of sum 1.
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
        """Weight the loss distributions of a composition by e^{λL}, and find the lattice points nearest to their means.

        The exponent λ is called the tilt. The weighted distributions are normalised.

        Args:
            laws: the lattice distributions of the losses L, with their numbers of rounds.
            coordinate: the tilt λ > −1; its attribute `tilt` is the number.

        Returns:
            The tilted distributions, with their log moments and the errors of these.
        """
        tilt, flat = coordinate.tilt, laws.flat
        log_moments, moment_errors = _log_moments(laws, tilt)
        weights = flat.tilted_weights(tilt, log_moments)
        centres = np.rint(flat.means(weights) / laws.unit).astype(np.int64)  # lattice indices
        return cls(laws, coordinate, log_moments, moment_errors, weights, centres)

    def parts(self) -> Iterator[TiltedDistribution]:
        """Yield each tilted distribution with bounds on the errors of its masses, in the order of the composition.

        A tilted mass is the exponential of log p + λL − K(λ). Its relative error is the rounding of this exponent, a
        few units of roundoff times the sizes of its terms.
        """
        flat = self.laws.flat
        starts = np.append(flat.starts, self.weights.size)
        # The factor 3 allows for the roundings of L and of the product λL.
        exponent_sizes = np.abs(flat.log_mass) + 3.0 * abs(self.coordinate.tilt) * np.abs(flat.location)
        for j, (law, count) in enumerate(zip(self.laws.laws, self.laws.counts, strict=True)):
            points = slice(int(starts[j]), int(starts[j + 1]))
            log_moment_size = abs(float(self.log_moments[j]))
            yield TiltedDistribution(
                count=count,
                index=law.index - self.centres[j],
                weights=self.weights[points],
                errors=UNIT_ROUNDOFF * (exponent_sizes[points] + log_moment_size + 24.0),
                total_error=float(self.moment_errors[j]),
            )


def _log_moments(laws: LatticeComposition, tilt: float) -> tuple[FloatArray, FloatArray]:
    """Compute the log moment K(λ) = log Σ m e^{λL} of each lattice distribution at a tilt λ, and a bound on its error.

    The sum is over the finite losses L with masses m. Let the infinite loss have the mass a, and let all masses add up
    to 1 + x, where x is due to rounding up. Then:

        Σ m e^{λL} = 1 + c,      c = Σ m (e^{λL} − 1) − a + x.

    If the losses are small, log(1 + c) is accurate. If c is very large or near −1, log Σ m e^{λL} is computed directly.

    Args:
        laws: the lattice distributions.
        tilt: exponent λ of the weights e^{λL} of losses L.

    Returns:
        K(λ) and a bound on its absolute error, one of each for every distribution.
    """
    flat = laws.flat
    exponents = tilt * flat.location
    log_peak = flat.largest(flat.log_mass + exponents)

    terms = _moment_changes(flat.log_mass, exponents)
    infinite_masses = np.exp([law.log_atom for law in laws.laws])
    excesses = np.asarray([law.excess for law in laws.laws])
    change = flat.sums(terms) - infinite_masses + excesses
    # Otherwise c might overflow, or log(1 + c) lose its digits.
    is_moderate = (log_peak < 500.0) & (change > -0.9)

    # The error of log(1 + c) follows from those of the terms of c, in units of roundoff: of the exponents log m and λL,
    # of the sum of all terms, and 32 for the other operations.
    numbers_of_terms = flat.expand(flat.lengths.astype(np.float64))
    term_units = np.abs(flat.log_mass) + 3.0 * np.abs(exponents) + numbers_of_terms + 32.0
    value = np.log1p(np.where(is_moderate, change, 0.0))
    moment = np.exp(np.where(is_moderate, value, 0.0))
    term_error = UNIT_ROUNDOFF * flat.sums(np.abs(terms) * term_units) / moment
    error = term_error + 16 * UNIT_ROUNDOFF * np.exp(-value)  # the rounding of c, relative to 1 + c

    # For the other distributions, the logarithm of the sum is computed directly.
    direct_value = flat.log_moments(tilt)
    direct_error = UNIT_ROUNDOFF * flat.largest(term_units) * 2.0  # the error of the largest exponent, twice
    errors = 16 * UNIT_ROUNDOFF + np.where(is_moderate, error, direct_error)  # with the rounding of the logarithm
    return np.where(is_moderate, value, direct_value), errors


def _moment_changes(log_mass: FloatArray, exponents: FloatArray) -> FloatArray:
    """Compute m (e^x − 1) for masses m and exponents x, without cancellation and overflow.

    For |x| < 1 this form is used, and otherwise e^{log m + x} − m, with log m + x limited to 600.

    Args:
        log_mass: log m of each mass m.
        exponents: x, one for each mass.

    Returns:
        One number for each mass, with the sign of its exponent.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for_small = np.exp(log_mass) * np.expm1(np.clip(exponents, -1.0, 1.0))
        for_large = np.exp(np.minimum(log_mass + exponents, 600.0)) - np.exp(log_mass)
    is_small = np.abs(exponents) < 1.0
    return np.where(is_small, for_small, for_large)


def build_spectrum(line: TiltedLine, size: int, power: Power, chernoff: Chernoff) -> Spectrum:
    """Build the sums over frequencies that give δ, from the characteristic function φ^T of the tilted composition.

    Each term is φ^T times the kernel, a factor that depends only on the frequency and the tilt. Frequencies with a
    negligible φ^T are left out, and the bound on their contribution widens the enclosure of δ.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period.
        power: φ^T on the computed frequencies.
        chernoff: bounds on the alias, the error that the sum has because its period is finite.

    Returns:
        The sums, with all errors, from which δ is enclosed at any ε.
    """
    laws = line.laws
    counts = laws.counts

    # The first frequency is always used, so that the sums are not empty.
    sizes = np.exp(power.log_size)
    errors = _bound_power_errors(power, sizes)
    is_used = sizes + errors > _KEPT
    is_used[:1] = True
    frequencies, used_sizes = power.frequencies[is_used], sizes[is_used]
    skipped = power.skipped + float((sizes + errors)[~is_used].sum())

    kernel = Kernel.at(frequencies, size, laws.unit, line.coordinate).values
    kernel_sizes = np.abs(kernel)
    terms = _from_polar(used_sizes, power.angle[is_used]) * kernel
    weights = Weights(float(used_sizes @ kernel_sizes), float(errors[is_used] @ kernel_sizes))

    # The log moment of the composition is the sum of those of the distributions, times their numbers of rounds.
    log_factors = [count * float(log_moment) for count, log_moment in zip(counts, line.log_moments, strict=True)]
    sum_of_sizes = math.fsum(map(abs, log_factors))
    centre = sum(count * int(law_centre) for count, law_centre in zip(counts, line.centres, strict=True))

    most_points = float(laws.flat.lengths.max())
    return Spectrum(
        coordinate=line.coordinate,
        unit=laws.unit,
        size=size,
        centre=centre,
        log_prefactor=math.fsum(log_factors),
        rounding=UNIT_ROUNDOFF * (len(log_factors) + 4.0) * sum_of_sizes,  # of the sum of the factors
        sums=sum_terms(size, frequencies, terms),
        weights=weights,
        skipped=skipped,
        chernoff=chernoff,
        # The alias may be larger by 0.1 %, and by the errors of the log moments of all rounds.
        alias_slack=1e-3 + 4 * UNIT_ROUNDOFF * (most_points + 64.0) * float(sum(counts)),
    )


def _bound_power_errors(power: Power, sizes: FloatArray) -> FloatArray:
    """Bound the errors of the computed characteristic function φ^T of a composition at each frequency.

    The error is at most |φ^T| (e^g − 1), for the number g that `power` has at the frequency. If g < 1, the bound is
    |φ^T| (g + g²). Otherwise it is |φ^T| e^g, with a logarithm of at most 700.

    Args:
        power: φ^T with the numbers g as its `growth`.
        sizes: |φ^T| at each frequency.

    Returns:
        One absolute error bound for each frequency.
    """
    growth = power.growth
    errors = sizes * growth * (1.0 + growth)
    is_large = np.flatnonzero(growth >= 1.0)
    errors[is_large] = np.exp(np.minimum(power.log_size[is_large] + growth[is_large], 700.0))  # e^710 overflows
    return errors


def _from_polar(sizes: FloatArray, angles: FloatArray) -> ComplexArray:
    """Compute the complex numbers r e^{−iα} of moduli r and angles α.

    Args:
        sizes: moduli r ≥ 0.
        angles: angles α, in radians.

    Returns:
        One complex number for each modulus.
    """
    values = np.empty(sizes.size, dtype=np.complex128)
    np.multiply(sizes, np.cos(angles), out=values.real)
    np.multiply(-sizes, np.sin(angles), out=values.imag)
    return values


# Characteristic functions of lattice distributions, summed directly at chosen frequencies -----------------------------
def transform_at_frequencies(line: TiltedLine, size: int, frequencies: IntArray, skipped: float) -> Power:
    """Compute the characteristic function φ^T of a tilted composition at some frequencies, by direct sums.

    φ^T is the product of φ_j^{T_j} over the distributions j with the characteristic functions φ_j and the numbers of
    rounds T_j. At few frequencies, direct sums cost less than an FFT of a large period.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period.
        frequencies: indices k of the frequencies, increasing, from 0 to N/2.
        skipped: bound on Σ |φ^T| over all other frequencies.

    Returns:
        φ^T with its error at the frequencies where it is not negligible. Its `skipped` bounds Σ |φ^T| over all others.
    """
    split_frequencies = SplitFrequencies.of(frequencies)

    def factors() -> Iterator[Factor]:
        """Yield the characteristic function of each distribution, with bounds on its errors."""
        for law in line.parts():
            # The sums give φ_j − 1 without cancellation.
            values = 1.0 + split_frequencies.transform_less_one(law.index, law.weights, size)
            yield Factor(values, _bound_direct_sum_errors(law, size, frequencies))

    return raise_to_counts(line.laws.counts, frequencies, factors(), skipped)


def _bound_direct_sum_errors(law: TiltedDistribution, size: int, frequencies: IntArray) -> FloatArray:
    """Bound the errors of a characteristic function φ that is computed by direct sums.

    With the angle θ = 2πkn/N at frequency k and lattice index n, the sums over n are φ − 1 = Σ w (e^{−iθ} − 1). Each
    e^{−iθ} is a product xy of two complex numbers of modulus 1. Its term is computed from x − 1 and y − 1
    (`SplitFrequencies`), and the sizes of the summands are limited:

        |x − 1| + |y − 1| + |(x − 1)(y − 1)| ≤ min(4θ, 8).

    The bound is the mean of these sizes under the weights w, times the relative errors of a sum and of the weights.

    Args:
        law: the tilted distribution, with weights w.
        size: number N of lattice points in a period.
        frequencies: indices k.

    Returns:
        One absolute error bound on φ for each frequency.

    Source: docs/engine-certificate.md, A4.
    """
    summation_error = (law.index.size + 64) * UNIT_ROUNDOFF  # of one term each, and of the products
    mean_index = float(law.weights @ np.abs(law.index))
    mean_sizes = 4.0 * mean_index * (2.0 * np.pi / size) * frequencies
    error = (summation_error + float(law.errors.max())) * np.minimum(mean_sizes, 8.0)
    return np.asarray(error + law.total_error + 8 * UNIT_ROUNDOFF)  # with the rounding of 1 + the sum


def all_frequencies(line: TiltedLine, size: int, frequencies: IntArray | None = None, skipped: float = 0.0) -> Power:
    """Compute the characteristic function φ^T of a tilted composition by one FFT of each distribution.

    φ^T is the product of φ_j^{T_j} over the distributions j, with their numbers of rounds T_j.

    Args:
        line: the distributions, tilted by λ: each mass is multiplied by e^{λL} and normalised.
        size: number N of lattice points in a period.
        frequencies: indices of the frequencies, from 0 to N/2. If None, all are used.
        skipped: bound on Σ |φ^T| over all other frequencies.

    Returns:
        φ^T with its error at the frequencies where it is not negligible. Its `skipped` bounds Σ |φ^T| over all others.
    """
    used_frequencies = np.arange(size // 2 + 1, dtype=np.int64) if frequencies is None else frequencies
    factors = (_transform(law, size, frequencies) for law in line.parts())
    return raise_to_counts(line.laws.counts, used_frequencies, factors, skipped)


def _transform(law: TiltedDistribution, size: int, frequencies: IntArray | None) -> Factor:
    """Compute the characteristic function φ of one tilted distribution by an FFT.

    Masses at indices that are equal modulo N are first added up, which does not change φ at these frequencies. The mass
    at the centre contributes the same number at each frequency. It is added after the FFT, so that the error of the FFT
    is relative to the other masses.

    Args:
        law: masses on lattice indices, multiplied by e^{λL} for a tilt λ and normalised.
        size: number N of lattice points in a period.
        frequencies: indices of the frequencies, from 0 to N/2. If None, all are used.

    Returns:
        The computed values, and one bound on their absolute errors.
    """
    is_central = law.index == 0
    off_centre_weights = np.where(is_central, 0.0, law.weights)
    central_weight = float(law.weights[is_central].sum())

    # An FFT of radix 2 has a relative error of 5u log₂N (docs/engine-certificate.md, B3), doubled for radix 3 and 5.
    # Sums over equal indices have errors in proportion to the number of their terms.
    most_wrapped = float(np.bincount(law.index % size).max())
    fft_units = 10.0 * math.log2(size) + 16.0 + most_wrapped  # in units of roundoff u; 16 is a margin
    fft_error = UNIT_ROUNDOFF * fft_units * float(off_centre_weights.sum())
    weight_error = float(law.weights @ law.errors)
    error = fft_error + (weight_error + 4 * UNIT_ROUNDOFF)  # with that of the last sum

    values = rfft(wrap(law.index, off_centre_weights, size))
    if frequencies is not None:
        values = values[frequencies]
    return Factor(central_weight + values, error)


def wrap(index: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Add up weights at lattice indices that are equal modulo the length of a Fourier transform.

    The discrete Fourier transform of length N cannot distinguish such indices, so the sums have the same transform as
    the weights.

    Args:
        index: lattice indices, of any sign.
        weights: one weight per index.
        size: length N of the result.

    Returns:
        Array of length N. Entry k is the sum of the weights at indices that are k modulo N.
    """
    return np.asarray(np.bincount(index % size, weights=weights, minlength=size), dtype=np.float64)
