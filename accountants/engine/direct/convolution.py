"""The total loss of a few steps by one tilted FFT, and enclosures of E[(1 − e^{ε−S})₊] from it.

Masses are tilted by e^{λL}, transformed on N points, multiplied and transformed back: a cyclic law of the total on a
window of length A = N h, from which δ at every ε is a sum. Charged, with e^{K(μ)} = E[e^{μS}] of the lattice law:

*Wrapped.* Totals outside the window add to places inside it. Above ε they add at most e^{λmA} P(S > ε + mA), m ≥ 1, and
e^{−λ|m|A} P(S > ε − |m|A), m ≤ −1, in units that are not tilted (docs/engine-certificate.md, A1 with C = 1); totals at
or above the window's top are missing themselves. No total lies below the sum of the least losses.

*Rounding.* A transform errs by at most ‖v‖₁ times 8u log₂ N; products and powers as in A4; the transform back likewise.
An error of e of each place changes the sum above ε by at most e (1/(hλ(λ + 1)) + 1) e^{K−λε}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.direct.laws import LatticeRows
    from epsilond.accountants.numerics.special import FloatArray

_GROUP = 16
_RATIOS = (0.25, 0.5, 0.7, 0.85, 1.15, 1.4, 1.8, 2.4, 3.2, 4.5, 7.0, 11.0, 17.0, 27.0, 42.0, 65.0)
"""Tilts of Chernoff bounds, in units of λ."""
_LARGEST = 600.0


class Window(NamedTuple):
    """Where totals are looked for: a tilt λ, and places from `low` or the least total on, over a length; nats."""

    tilt: float
    low: float
    length: float


@dataclass(frozen=True, eq=False)
class CumulantBounds:
    """Upper bounds of K at some tilts, and at λ itself its computed value."""

    tilts: FloatArray
    cumulants: FloatArray

    @classmethod
    def of(cls, rows: LatticeRows, counts: FloatArray, tilts: FloatArray) -> CumulantBounds:
        """Bound K at every tilt, from masses joined in groups that count at their highest loss.

        Moments are taken in units of e^{tilt · the highest loss that has mass}, so that none overflows and none of
        the largest terms underflows. The exponents err by at most four units of roundoff of their size.

        Args:
            rows: lattice masses of the different steps.
            counts: number of steps of each row.
            tilts: positive tilts.
        """
        columns = rows.mass.shape[1]
        starts = np.arange(0, columns, _GROUP)
        mass = np.add.reduceat(rows.mass, starts, axis=1)
        last = np.minimum(starts + _GROUP, columns) - 1
        highest = rows.losses[last] + float(rows.offsets.max())
        tops = np.asarray([highest[np.flatnonzero(row)[-1]] for row in mass])
        moments = [
            np.log(row @ np.exp(np.minimum((highest - top)[:, None] * tilts, 0.0))) + top * tilts
            for row, top in zip(mass, tops, strict=True)
        ]
        cumulants = counts @ np.stack(moments)
        size = np.abs(cumulants) * 1e-12 + 4 * UNIT_ROUNDOFF * counts.sum() * np.abs(tops).max() * tilts
        return cls(tilts, cumulants + 64 * UNIT_ROUNDOFF * columns * counts.sum() + size)

    def log_tail(self, place: float) -> float:
        """Upper bound of log P(S ≥ place)."""
        return min(float((self.cumulants - self.tilts * place).min()), 0.0)


@dataclass(frozen=True, eq=False)
class Total:
    """The law of the total loss on a window, in units of e^{K − λε₀} for an ε₀ near those that are asked.

    Attributes:
        places: all places ≥ ε₀ − 600/λ, increasing, the offset included.
        cut: whether there may be totals below the first of them.
        bottomless: whether there may be totals below the window.
        above_p: masses at and above each place, and nothing above the last.
        above_q: the same weighed by e^{ε₀ − S}.
        log_unit: K − λε₀.
        place_error: bound of the error of every place before its tilt is undone.
        relative: relative error of all masses.
    """

    window: Window
    chernoff: CumulantBounds
    unit: float
    reference: float
    places: FloatArray
    above_p: FloatArray
    above_q: FloatArray
    log_unit: float
    place_error: float
    relative: float
    misplacement: float
    bottomless: bool
    cut: bool

    @classmethod
    def of(cls, rows: LatticeRows, counts: Sequence[int], window: Window, reference: float) -> Total:
        """Convolve the rows."""
        unit, tilt, total = rows.unit, window.tilt, sum(counts)
        size = next_fast_len(max(math.ceil(window.length / unit), rows.mass.shape[1]), real=True)
        losses = rows.losses
        weights = rows.mass * np.exp(tilt * losses)
        moments = weights.sum(axis=1)
        weights /= moments[:, None]
        logs = [count * math.log(moment) for count, moment in zip(counts, moments.tolist(), strict=True)]
        drift = math.fsum(count * offset for count, offset in zip(counts, rows.offsets.tolist(), strict=True))
        cumulant = math.fsum(logs) + tilt * drift
        spectra = rfft(weights, size, axis=1)
        values, error = _product(spectra, counts, size)
        masses = irfft(values, size)
        # The column 0 of the transform is the sum of the first columns.
        bottom = rows.first * total
        start = bottom
        if window.low > -math.inf:
            start = max(bottom, math.floor((window.low - drift) / unit))
        masses = np.roll(masses, bottom - start)
        places = np.asarray(unit * (start + np.arange(size)) + drift, dtype=np.float64)
        kept = int(np.searchsorted(places, reference - _LARGEST / tilt))
        places, masses = places[kept:], masses[kept:]
        given = np.maximum(masses, 0.0) * np.exp(-tilt * (places - reference))
        weighed = given * np.exp(np.minimum(reference - places, _LARGEST))
        above = (np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (given, weighed))
        edge = max(abs(float(losses[0])), abs(float(losses[-1])))
        span = max(abs(float(places[0])), abs(float(places[-1]))) + abs(reference)
        relative = 8 * UNIT_ROUNDOFF * (total * (4.0 + tilt * edge + losses.size / 8.0) + sum(map(abs, logs)))
        relative += 4 * UNIT_ROUNDOFF * (8.0 + (1.0 + tilt) * span + size)
        tilts = tilt * np.asarray([0.0, *(ratio for ratio in _RATIOS if ratio < 2.0 or ratio * tilt * edge < _LARGEST)])
        return cls(
            window=window._replace(low=float(unit * start), length=unit * size),
            chernoff=CumulantBounds.of(rows, np.asarray(counts, dtype=np.float64), tilts),
            unit=unit,
            reference=reference,
            places=places,
            above_p=next(above),
            above_q=next(above),
            log_unit=cumulant - tilt * reference,
            place_error=error,
            relative=relative,
            misplacement=total * rows.misplacement + 4 * UNIT_ROUNDOFF * span,
            bottomless=start > bottom,
            cut=start > bottom or kept > 0,
        )

    def tails(self, epsilon: float) -> tuple[float, float]:
        """P(S > ε) and e^ε₀ Q(S > ε) as computed, in units of e^{log_unit}."""
        place = int(np.searchsorted(self.places, epsilon, side="right"))
        return float(self.above_p[place]), float(self.above_q[place])

    def size_above(self, epsilon: float) -> float:
        """About Q(S > ε); 0 where it is no double."""
        log_scale = min(self.log_unit - self.reference, _LARGEST)
        return max(self.tails(epsilon)[1], 0.0) * math.exp(log_scale)

    def place_of_size(self, size: float) -> float:
        """About the ε at which Q(S > ε) is as asked; −∞ without any.

        What is above a place counts from halfway to the next one.
        """
        level = size * math.exp(min(self.reference - self.log_unit, _LARGEST))
        place = int(np.searchsorted(-self.above_q, -level))
        if not 0 < place < self.places.size:
            return -math.inf
        more, less = self.above_q[place - 1 : place + 1].tolist()
        share = math.log(more / level) / math.log(more / less) if 0.0 < less < level <= more else 0.5
        return float(self.places[place - 1]) + (share - 0.5) * self.unit

    def sum_above(self, epsilon: float) -> tuple[float, float]:
        """E[(1 − e^{ε−S})₊] within the window, and its error but for what is wrapped, in units of e^{log_unit}."""
        p, q = self.tails(epsilon)
        q *= math.exp(epsilon - self.reference)
        tilt, unit = self.window.tilt, self.unit
        scale = math.exp(min(tilt * (self.reference - epsilon), _LARGEST))
        error = self.place_error * scale * (1.0 / (unit * tilt * (tilt + 1.0)) + 1.0)
        return p - q, error + self.relative * (p + q)

    @cached_property
    def log_missing(self) -> float:
        """Upper bound of log P(S ≥ top)."""
        return self.chernoff.log_tail(self.window.low + self.window.length)

    def log_wrapped(self, epsilon: float) -> float:
        """Upper bound of the log of what totals outside the window add to the sum above ε."""
        tilt, _, length = self.window
        tilts, logs = self.chernoff.tilts, self.chernoff.cumulants - self.chernoff.tilts * epsilon
        gap = np.abs(tilts - tilt) * length
        bounds = logs - gap - np.log(-np.expm1(-gap))
        above = tilts > tilt
        found = float(bounds[above].min())
        if self.bottomless:
            found = float(np.logaddexp(found, bounds[~above].min()))
        return found

    @property
    def reach(self) -> float:
        """The least ε that it serves: below it some totals are at no place of their own."""
        return float(self.places[0]) if self.cut else -math.inf


def _product(
    spectra: np.ndarray[tuple[int, ...], np.dtype[np.complex128]], counts: Sequence[int], size: int
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.complex128]], float]:
    """Π F^T, and a bound of the error of every place after the transform back."""
    eta = 8 * UNIT_ROUNDOFF * math.log2(size)
    total = sum(counts)
    values = np.ones(spectra.shape[1], dtype=np.complex128)
    for row, count in zip(spectra, counts, strict=True):
        values = values * (row if count == 1 else row**count)
    moduli, weights = np.abs(spectra), np.asarray(counts, dtype=np.float64)[:, None]
    raised, plain = ((each if total == len(counts) else each**weights).prod(axis=0) for each in (moduli + eta, moduli))
    rounding = 16 * UNIT_ROUNDOFF * total + eta
    return values, 2.02 / size * float((raised * (1.0 + rounding) - plain).sum())
