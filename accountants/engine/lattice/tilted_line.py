"""Tilted lattice laws, their characteristic functions raised to counts, and the spectrum made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import rfft

from epsilond.accountants.engine.lattice.spectrum import TINY, ComplexArray, Kernel, Spectrum, Weights, sums_of
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from epsilond.accountants.engine.lattice.laws import LatticeLaws
    from epsilond.accountants.engine.lattice.spectrum import Chernoff
    from epsilond.accountants.numerics.special import FloatArray


_KEPT = 1e-21
"""|φ^T| with its error above which a frequency is kept; those below are charged, a million of them 1e-15."""
_NEGLIGIBLE = -60.0
"""log |φ^T| below which a frequency is left out before anything else is known of it: a million weigh 1e-20."""
_ROUNDED = 8 * UNIT_ROUNDOFF
"""Relative rounding of |φ| and of the quotient of its error."""
_LONGEST_RUN = 64
"""Most frequencies whose rotations are products of one another: a product costs about a 64th of a sine."""
_BLOCK = 2**10
"""Outcomes, or runs, whose complex rotations at a run of frequencies are a megabyte: what the cache holds."""


@dataclass(frozen=True)
class TiltedLaw:
    """One tilted law: its count, indices from its centre, weights, their relative errors, the error of their sum."""

    count: int
    index: IntArray
    weights: FloatArray
    errors: FloatArray
    total_error: float


@dataclass(frozen=True)
class TiltedLine:
    """A tilted law set, ready to be transformed."""

    laws: LatticeLaws
    place: TiltCoordinate
    log_moments: FloatArray
    moment_errors: FloatArray
    weights: FloatArray
    centres: IntArray

    @classmethod
    def of(cls, laws: LatticeLaws, place: TiltCoordinate) -> TiltedLine:
        """Tilt the laws and find their centres."""
        lam, flat = place.tilt, laws.flat
        log_moments, errors = _log_moments(laws, lam)
        weights = flat.tilted(lam, log_moments)
        centres = np.rint(flat.means(weights) / laws.unit).astype(np.int64)
        return cls(laws, place, log_moments, errors, weights, centres)

    def parts(self) -> Iterator[TiltedLaw]:
        """The laws one by one."""
        starts = np.append(self.laws.flat.starts, self.weights.size)
        sizes = np.abs(self.laws.flat.log_mass) + 3.0 * abs(self.place.tilt) * np.abs(self.laws.flat.location)
        for j, (law, count) in enumerate(zip(self.laws.laws, self.laws.counts, strict=True)):
            span = slice(int(starts[j]), int(starts[j + 1]))
            relative = UNIT_ROUNDOFF * (sizes[span] + abs(float(self.log_moments[j])) + 24.0)
            error = float(self.moment_errors[j])
            yield TiltedLaw(count, law.index - self.centres[j], self.weights[span], relative, error)


def _log_moments(laws: LatticeLaws, tilt: float) -> tuple[FloatArray, FloatArray]:
    """K_j(λ) = log(total − a + Σ m expm1(λL)) and a bound of its error, which shrinks with the losses."""
    flat = laws.flat
    exponent = tilt * flat.location
    plain = flat.log_moments(tilt)
    peak = flat.largest(flat.log_mass + exponent)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.where(
            np.abs(exponent) < 1.0,
            np.exp(flat.log_mass) * np.expm1(np.clip(exponent, -1.0, 1.0)),
            np.exp(np.minimum(flat.log_mass + exponent, 600.0)) - np.exp(flat.log_mass),
        )
    atoms = np.exp([law.log_atom for law in laws.laws])
    sums = flat.sums(terms) - atoms + np.asarray([law.excess for law in laws.laws])
    sizes = np.abs(flat.log_mass) + 3.0 * np.abs(exponent) + flat.spread(flat.lengths.astype(np.float64)) + 32.0
    moderate = (peak < 500.0) & (sums > -0.9)
    precise = np.log1p(np.where(moderate, sums, 0.0))
    spread = UNIT_ROUNDOFF * flat.sums(np.abs(terms) * sizes) / np.exp(np.where(moderate, precise, 0.0))
    coarse = UNIT_ROUNDOFF * flat.largest(sizes) * 2.0
    errors = 16 * UNIT_ROUNDOFF + np.where(moderate, spread + 16 * UNIT_ROUNDOFF * np.exp(-precise), coarse)
    return np.where(moderate, precise, plain), errors


class Factor(NamedTuple):
    """One law's φ on some frequencies: log|φ|, its angle, and a bound of |φ̂ − φ|."""

    values: ComplexArray
    error: FloatArray | float


class Power(NamedTuple):
    """φ^T on chosen frequencies: log size, angle, log of the growth its error allows, and Σ|φ^T| elsewhere."""

    frequencies: IntArray
    log_size: FloatArray
    angle: FloatArray
    growth: FloatArray
    skipped: float


def accumulated(line: TiltedLine, frequencies: IntArray, factors: Iterator[Factor], skipped: float) -> Power:
    """Π φ_j^{T_j} in logs, with |Π φ̂^T − Π φ^T| ≤ |Π φ̂^T| (e^growth − 1)  (docs/engine-certificate.md A4).

    A frequency at which (|φ̂| + error)^T of the laws so far proves the product negligible is left out and charged: no
    other law's |φ| exceeds one.
    """
    log_size, angle, growth, bound = (np.zeros(frequencies.size) for _ in range(4))
    places: IntArray | None = None
    for count, factor in zip(line.laws.counts, factors, strict=True):
        values, errors = factor.values, np.broadcast_to(factor.error, frequencies.shape)
        if places is not None:
            values, errors = values[places], errors[places]
        square = values.real * values.real + values.imag * values.imag
        bound += count * np.minimum(np.log(np.sqrt(square) + errors + _ROUNDED), 0.0)
        open_ = bound > _NEGLIGIBLE
        if not open_.all():
            skipped += float(np.exp(bound[~open_]).sum()) * (1.0 + 1e-9)
            values, errors = values[open_], errors[open_]
            places = np.flatnonzero(open_) if places is None else places[open_]
            log_size, angle, growth, bound = (part[open_] for part in (log_size, angle, growth, bound))
        real, imaginary = values.real, values.imag
        # log|φ| from |φ|² − 1 keeps the digits that a large count would magnify.
        excess = (real - 1.0) * (real + 1.0) + imaginary * imaginary
        near = np.abs(excess) < 0.5
        logs = np.empty(excess.size)
        logs[near] = 0.5 * np.log1p(excess[near])
        logs[~near] = 0.5 * np.log(np.maximum(1.0 + excess[~near], TINY))
        angles = np.arctan2(imaginary, real)
        log_size += count * logs
        turned = count * angles
        # The nearest multiple of 2π is taken away, none from a small angle of either sign: 2π itself is rounded.
        angle += turned - 2.0 * np.pi * np.rint(turned / (2.0 * np.pi))
        ratio = errors / np.sqrt(np.maximum(1.0 + excess, TINY))
        growth += count * (1.0 + _ROUNDED) * np.log1p(ratio)
        growth += (4 * UNIT_ROUNDOFF * count) * (np.abs(logs) + np.abs(angles))
        growth += UNIT_ROUNDOFF * (np.abs(log_size) + np.abs(angle))
    kept = frequencies if places is None else frequencies[places]
    return Power(kept, log_size, angle, growth, skipped)


def finished(line: TiltedLine, size: int, power: Power, chernoff: Chernoff) -> Spectrum:
    """Keep the frequencies that matter and charge the others."""
    sizes = np.exp(power.log_size)
    growth = power.growth
    # e^g − 1 ≤ g + g² for g ≤ 1.
    charges = sizes * growth * (1.0 + growth)
    wide = np.flatnonzero(growth >= 1.0)
    charges[wide] = np.exp(np.minimum(power.log_size[wide] + growth[wide], 700.0))
    kept = sizes + charges > _KEPT
    kept[:1] = True
    counts = line.laws.counts
    centre = sum(count * int(c) for count, c in zip(counts, line.centres, strict=True))
    products = [count * float(value) for count, value in zip(counts, line.log_moments, strict=True)]
    rounding = UNIT_ROUNDOFF * (len(products) + 4.0) * math.fsum(map(abs, products))
    longest = float(line.laws.flat.lengths.max())
    kernel = Kernel.at(power.frequencies[kept], size, line.laws.unit, line.place).values
    return Spectrum(
        place=line.place,
        unit=line.laws.unit,
        size=size,
        centre=centre,
        log_prefactor=math.fsum(products),
        rounding=rounding,
        sums=sums_of(size, power.frequencies[kept], _polar(sizes[kept], power.angle[kept]) * kernel),
        weights=Weights(float(sizes[kept] @ np.abs(kernel)), float(charges[kept] @ np.abs(kernel))),
        skipped=power.skipped + float((sizes + charges)[~kept].sum()),
        chernoff=chernoff,
        alias_slack=1e-3 + 4 * UNIT_ROUNDOFF * (longest + 64.0) * float(sum(counts)),
    )


def _polar(sizes: FloatArray, angles: FloatArray) -> ComplexArray:
    """Sizes turned by minus the angles."""
    found = np.empty(sizes.size, dtype=np.complex128)
    np.multiply(sizes, np.cos(angles), out=found.real)
    np.multiply(-sizes, np.sin(angles), out=found.imag)
    return found


# Characteristic functions of lattice laws summed directly at chosen frequencies -------------------------------------
def few_frequencies(line: TiltedLine, size: int, kept: IntArray, skipped: float) -> Power:
    """Return φ^T at the frequencies `kept`, summed directly.

    φ − 1 = Σ w (e^{−iθ} − 1) errs in proportion to E|θ| (A4). `skipped` bounds Σ |φ^T| over the other frequencies.
    """
    runs = _Runs.of(kept)

    def factors() -> Iterator[Factor]:
        for law in line.parts():
            gamma = (law.index.size + 64) * UNIT_ROUNDOFF
            # |(x − 1)(y − 1)| + |x − 1| + |y − 1| ≤ 4θ, and no factor is further than 2 from one.
            spread = 4.0 * float(law.weights @ np.abs(law.index)) * (2.0 * np.pi / size) * kept
            error = (gamma + float(law.errors.max())) * np.minimum(spread, 8.0)
            yield Factor(1.0 + runs.sum(law, size), error + law.total_error + 8 * UNIT_ROUNDOFF)

    return accumulated(line, kept, factors(), skipped)


@dataclass(frozen=True)
class _Runs:
    """Frequencies k = r a + b ≥ 0, 0 ≤ b < r: the different r a, and for each frequency the place of its r a and its b.

    With x = e^{−iθ} at r a and y at b, Σ w (xy − 1) = Σ w ((x − 1)(y − 1) + (x − 1) + (y − 1)) is a product of
    matrices, so that sines are computed only for each r a and each b. These are fewest for
    r = √(number of frequencies), if those are consecutive. Neither angle exceeds the whole one.
    """

    length: int
    starts: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, frequencies: IntArray) -> _Runs:
        """Split the frequencies, which increase."""
        length = min(math.isqrt(frequencies.size) + 1, _LONGEST_RUN)
        column = frequencies % length
        starts, row = np.unique(frequencies - column, return_inverse=True)
        return cls(length, starts, row, column)

    def sum(self, law: TiltedLaw, size: int) -> ComplexArray:
        """Return Σ w (e^{−iθ} − 1) at each frequency, over blocks of outcomes and of runs that the cache holds."""
        sums = np.zeros(self.row.size, dtype=np.complex128)
        for first in range(0, self.starts.size, _BLOCK):
            starts = self.starts[first : first + _BLOCK]
            here = slice(*np.searchsorted(self.row, (first, first + _BLOCK)).tolist())
            table = np.zeros((starts.size, self.length), dtype=np.complex128)
            for block in range(0, law.index.size, _BLOCK):
                index, weights = law.index[block : block + _BLOCK], law.weights[block : block + _BLOCK]
                fine = _turned(index, np.arange(self.length), size)
                table += weights @ fine
                for run in range(0, starts.size, _LONGEST_RUN):
                    coarse = _turned(index, starts[run : run + _LONGEST_RUN], size)
                    coarse *= weights[:, None]
                    table[run : run + _LONGEST_RUN] += coarse.T @ fine + coarse.sum(axis=0)[:, None]
            sums[here] = table[self.row[here] - first, self.column[here]]
        return sums


def _turned(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """Return e^{−2πi k n/N} − 1 for each n (rows) and k (columns); products below 2^53 are reduced exactly."""
    turns = np.multiply.outer(index.astype(np.float64), frequencies.astype(np.float64))
    turns -= size * np.rint(turns / size)
    turns *= np.pi / size
    sine = np.sin(turns)
    return np.asarray(-2.0 * sine * (sine + 1j * np.cos(turns)))


def all_frequencies(line: TiltedLine, size: int, kept: IntArray | None = None, skipped: float = 0.0) -> Power:
    """φ at every frequency, or at those `kept`, by one FFT of each wrapped law.

    Wrapping is exact at these frequencies. `skipped` bounds Σ |φ^T| over the others.
    """
    chosen = np.arange(size // 2 + 1, dtype=np.int64) if kept is None else kept

    def factors() -> Iterator[Factor]:
        for law in line.parts():
            # What sits at the centre adds to φ as it is; only the rest suffers from the FFT.
            still = law.index == 0
            moving = np.where(still, 0.0, law.weights)
            # 5u log₂N for the butterflies (B3), doubled for those of radix 3 and 5; the weights' own errors; wrapping.
            deepest = float(np.bincount(law.index % size).max())
            error = UNIT_ROUNDOFF * (10.0 * math.log2(size) + 16.0 + deepest) * float(moving.sum())
            error += float(law.weights @ law.errors) + 4 * UNIT_ROUNDOFF
            values = rfft(wrapped(law.index, moving, size))
            yield Factor(float(law.weights[still].sum()) + (values if kept is None else values[kept]), error)

    return accumulated(line, chosen, factors(), skipped)


def wrapped(index: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Weights summed over indices that are equal modulo `size`."""
    return np.asarray(np.bincount(index % size, weights=weights, minlength=size), dtype=np.float64)
