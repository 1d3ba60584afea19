"""Tilted lattice laws, their characteristic functions raised to counts, and the spectrum made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import rfft
from scipy.sparse import csr_array

from epsilond.accountants.engine.lattice.spectrum import ComplexArray, Kernel, Spectrum, Weights, sums_of
from epsilond.accountants.engine.lattice.tilted import IntArray, TiltCoordinate
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.engine.lattice.laws import LatticeLaws
    from epsilond.accountants.engine.lattice.spectrum import Chernoff
    from epsilond.accountants.numerics.special import FloatArray


_TINY = 1e-300
_KEPT = 1e-21
_NEGLIGIBLE = -60.0
"""log |φ^T| below which a frequency is left out before anything else is known of it: a million weigh 1e-20."""
_ROUNDED = 8 * UNIT_ROUNDOFF
_FEW_TURNS, _SMALL = 100, 1e-6
_RUN = 64
"""Frequencies whose rotations are products of one another."""
_BLOCK = 2**10
"""Outcomes whose rotations at a run of frequencies are a megabyte."""


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
    many = len(line.laws.counts) > 1
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
        logs[~near] = 0.5 * np.log(np.maximum(1.0 + excess[~near], _TINY))
        angles = np.arctan2(imaginary, real)
        log_size += count * logs
        angle += np.remainder(count * angles, 2.0 * np.pi) if many or count > _FEW_TURNS else count * angles
        ratio = errors / np.sqrt(np.maximum(1.0 + excess, _TINY))
        large = np.flatnonzero(ratio > _SMALL)
        ratio[large] = np.log1p(ratio[large])
        growth += count * (1.0 + _ROUNDED) * ratio
        growth += (4 * UNIT_ROUNDOFF * count) * (np.abs(logs) + np.abs(angles))
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
    """φ − 1 = Σ w (e^{−iθ} − 1), summed directly; its error is in proportion to E|θ| (A4)."""
    parts = list(line.parts())
    stride = stride_of([law.index for law in parts])
    runs = _Runs.of(kept)
    if sum(law.index.size for law in parts) * runs.columns <= stride * kept.size:
        values = np.stack([runs.sum(law, size) for law in parts])
    else:
        values = _by_tables(parts, stride, size, kept)

    def factors() -> Iterator[Factor]:
        for row, law in zip(values, parts, strict=True):
            gamma = (law.index.size + stride + 64) * UNIT_ROUNDOFF
            # Both halves of a split angle are at most twice the angle, and no factor is further than 2 from one.
            spread = 4.0 * float(law.weights @ np.abs(law.index)) * (2.0 * np.pi / size) * kept
            error = (gamma + float(law.errors.max())) * np.minimum(spread, 8.0)
            yield Factor(1.0 + row, error + law.total_error + 8 * UNIT_ROUNDOFF)

    return accumulated(line, kept, factors(), skipped)


@dataclass(frozen=True)
class _Runs:
    """Frequencies k = 64 a + b ≥ 0: every a there is, and for each frequency the place of its a and its b.

    With x = e^{−iθ} at 64 a and y at b, Σ w (xy − 1) = Σ w ((x − 1)(y − 1) + (x − 1) + (y − 1)) is a product of
    matrices: sines are taken for every a and every b alone. Neither angle is larger than the whole one.
    """

    starts: IntArray
    row: IntArray
    column: IntArray

    @classmethod
    def of(cls, frequencies: IntArray) -> _Runs:
        long, short = np.divmod(frequencies, _RUN)
        starts, row = np.unique(long, return_inverse=True)
        return cls(starts, row, short)

    @property
    def columns(self) -> int:
        """How many frequencies sines are taken for."""
        return self.starts.size + self.width

    @property
    def width(self) -> int:
        """One more than the largest b."""
        return int(self.column.max()) + 1

    def sum(self, law: TiltedLaw, size: int) -> ComplexArray:
        """Σ w (e^{−iθ} − 1) at each frequency, over so many outcomes and runs at a time that the cache holds them."""
        table = np.zeros((self.starts.size, self.width), dtype=np.complex128)
        for first in range(0, law.index.size, _BLOCK):
            index, weights = law.index[first : first + _BLOCK], law.weights[first : first + _BLOCK]
            fine = _turned(index, np.arange(self.width), size)
            table += weights @ fine
            for run in range(0, self.starts.size, _RUN):
                coarse = _turned(index, _RUN * self.starts[run : run + _RUN], size)
                coarse *= weights[:, None]
                table[run : run + _RUN] += coarse.T @ fine + coarse.sum(axis=0)[:, None]
        return np.asarray(table[self.row, self.column])


def _by_tables(parts: Sequence[TiltedLaw], stride: int, size: int, kept: IntArray) -> ComplexArray:
    """The same from tables of rotations by short and by long steps of the index, where outcomes are many."""
    tables = [_Table.of(law.index, law.weights, stride) for law in parts]
    first, last = min(table.first for table in tables), max(table.last for table in tables)
    values = np.empty((len(parts), kept.size), dtype=np.complex128)
    step = max(1, 2**18 // stride)
    for start in range(0, kept.size, step):
        some = kept[start : start + step]
        near = _rotations(np.arange(-(stride // 2) - 1, stride // 2 + 2), some, size)
        far = _rotations(stride * np.arange(first, last + 1), some, size)
        for j, table in enumerate(tables):
            values[j, start : start + step] = table.sum(near, far[table.first - first : table.last - first + 1])
    return values


def stride_of(indices: Sequence[IntArray]) -> int:
    """Long steps of a split index: about the root of the widest range."""
    return max(math.isqrt(max(int(index.max() - index.min()) for index in indices) + 1), 1)


@dataclass(frozen=True)
class _Table:
    """Weights by split index n = a·stride + b, |b| ≤ stride/2: rows a from `first` to `last`, columns b."""

    weights: csr_array
    rows: FloatArray
    first: int
    last: int

    @classmethod
    def of(cls, index: IntArray, weights: FloatArray, stride: int) -> _Table:
        long = np.rint(index / stride).astype(np.int64)
        first, last = int(long.min()), int(long.max())
        columns = index - long * stride + stride // 2 + 1
        shape = (last - first + 1, 2 * (stride // 2) + 3)
        table = csr_array((weights, (long - first, columns)), shape=shape)
        return cls(table, np.asarray(table.sum(axis=1)).ravel(), first, last)

    def sum(self, near: ComplexArray, far: ComplexArray) -> ComplexArray:
        """Σ w (e^{−iθ} − 1) from tables of e^{−iθ} − 1: xy − 1 = x (y − 1) + (x − 1) keeps digits of small angles."""
        sums = (self.weights @ near.real) + 1j * (self.weights @ near.imag)
        return np.asarray((far * sums).sum(axis=0) + sums.sum(axis=0) + self.rows @ far)


def _rotations(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """e^{−2πi k n/N} − 1 for each n (rows) and k ≥ 0 (columns), increasing.

    Of many frequencies k = 64 a + b the sines are taken for every a and every b alone and multiplied, again as xy − 1 =
    x (y − 1) + (x − 1): both angles add up to the whole one, so that the error stays in proportion to it.
    """
    long, short = np.divmod(frequencies, _RUN)
    starts, place = np.unique(long, return_inverse=True)
    if 2 * (starts.size + _RUN) > frequencies.size:
        return _turned(index, frequencies, size)
    coarse, fine = _turned(index, _RUN * starts, size)[:, place], _turned(index, np.arange(_RUN), size)[:, short]
    product = coarse * fine
    product += coarse
    product += fine
    return np.asarray(product)


def _turned(index: IntArray, frequencies: IntArray, size: int) -> ComplexArray:
    """The same, directly. Products below 2^53 and their reduction are exact."""
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
