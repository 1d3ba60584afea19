"""Which frequencies of a composed lattice law matter: the others are proved negligible block by block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import rfft

from epsilond.accountants.engine.lattice.cells.discretise import BoolArray

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.spectra.tilted_line import TiltedLine
    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray

_LEFT_OUT = 3.0
"""Expected number of rounds outside the window on which φ is bounded."""


def wrapped(index: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Weights summed over indices that are equal modulo `size`."""
    return np.asarray(np.bincount(index % size, weights=weights, minlength=size), dtype=np.float64)


def survivors(line: TiltedLine, blocks: int, ratio: int, depth: float, most: float) -> tuple[IntArray | None, float]:
    """Frequencies whose |φ^T| is not proved below e^−depth, and a bound of Σ |φ^T| over the others.

    None if there are more than `most`. With φ_B the part of φ on a window that holds all but w of the mass,
    |φ| ≤ |φ_B| + w. Within half a block of the FFT's frequency τ, |φ_B(τ + s)|² ≤ |φ_B|² + |s (|φ_B|²)′| + s² Var, as
    the second derivative of |φ_B|² is at most 2 Var, all of the window's mass. Near t = 0, |φ_B|² ≤ 1 − t² Var + t⁴
    E(L − L′)⁴/24 for a window of mass one.
    """
    unit, size = line.laws.unit, blocks * ratio
    reach = np.pi / (blocks * unit)
    log_bound = np.zeros(blocks // 2 + 1)
    quadratic = quartic = 0.0
    for law in line.parts():
        count, index = law.count, law.index
        inside, outside = _window(index, law.weights, min(_LEFT_OUT / (count * len(line.laws.laws)), 0.25))
        distance, inner = index[inside] * unit, law.weights[inside]
        plain = rfft(wrapped(index[inside], inner, blocks))
        slope = rfft(wrapped(index[inside], inner * distance, blocks))
        second = float(inner @ distance**2)
        square = np.abs(plain) ** 2 + 2.0 * reach * np.abs((np.conj(plain) * slope).imag) + reach * reach * second
        square += 1e-12 * (1.0 + reach * math.sqrt(second))
        log_bound += count * np.log(np.minimum(np.sqrt(square) + outside, 1.0))
        mass = float(inner.sum())
        centred = distance - float(inner @ distance) / mass
        variance, fourth = float(inner @ centred**2) / mass, float(inner @ centred**4) / mass
        quadratic += count * mass * variance * (1.0 - 1e-9)
        quartic += count * mass * (2.0 * fourth + 6.0 * variance**2) / 24.0 * (1.0 + 1e-9)
    # The weights sum to one within 1e-12.
    cut = depth + 1e-12 * float(sum(line.laws.counts))
    open_blocks, closed = np.flatnonzero(log_bound > -cut), log_bound <= -cut
    if open_blocks.size * ratio > most:
        return None, float(open_blocks.size * ratio)
    half = ratio // 2
    kept = (open_blocks[:, None] * ratio + np.arange(-half, half + 1)).ravel()
    kept = kept[(kept >= 0) & (2 * kept <= size)].astype(np.int64)
    skipped = ratio * float(np.exp(log_bound[closed]).sum())
    discriminant = quadratic * quadratic - 8.0 * quartic * cut
    if discriminant > 0:
        root = math.sqrt(discriminant)
        low = 4.0 * cut / (quadratic + root) * (1.0 + 1e-9)
        high = (quadratic + root) / (2.0 * quartic) * (1.0 - 1e-9) if quartic > 0 else math.inf
        place = (kept * (2.0 * np.pi / (size * unit))) ** 2
        proved = (place >= low) & (place <= high)
        skipped += float(proved.sum()) * math.exp(-depth)
        kept = kept[~proved]
    return kept, skipped


def _window(index: IntArray, weights: FloatArray, left_out: float) -> tuple[BoolArray, float]:
    """The smallest interval around the centre that leaves out at most that mass, and what it leaves out, rounded up."""
    order = np.argsort(-np.abs(index), kind="stable")
    beyond = np.cumsum(weights[order])
    count = int(np.searchsorted(beyond, left_out, side="right"))
    inside = np.ones(index.size, dtype=np.bool_)
    inside[order[:count]] = False
    return inside, float(beyond[count - 1]) * (1.0 + 1e-9) if count else 0.0
