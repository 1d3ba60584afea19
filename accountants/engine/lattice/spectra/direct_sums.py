"""Characteristic functions of lattice laws summed directly at chosen frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from epsilond.accountants.engine.lattice.spectra.spectrum import ComplexArray
from epsilond.accountants.engine.lattice.spectra.tilted_line import Factor, Power, TiltedLine, accumulated
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from epsilond.accountants.numerics.special import FloatArray


def few_frequencies(line: TiltedLine, size: int, kept: IntArray, skipped: float) -> Power:
    """φ − 1 = Σ w (e^{−iθ} − 1), summed directly; its error is in proportion to E|θ| (A4)."""
    parts = list(line.parts())
    stride = stride_of([law.index for law in parts])
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

    def factors() -> Iterator[Factor]:
        for row, law in zip(values, parts, strict=True):
            gamma = (law.index.size + stride + 64) * UNIT_ROUNDOFF
            # Both halves of a split angle are at most twice the angle, and no factor is further than 2 from one.
            spread = 4.0 * float(law.weights @ np.abs(law.index)) * (2.0 * np.pi / size) * kept
            error = (gamma + float(law.errors.max())) * np.minimum(spread, 8.0)
            yield Factor(1.0 + row, error + law.total_error + 8 * UNIT_ROUNDOFF)

    return accumulated(line, kept, factors(), skipped)


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
    """e^{−2πi k n/N} − 1 for each n (rows) and k (columns). Products below 2^53 and their reduction are exact."""
    turns = np.multiply.outer(index.astype(np.float64), frequencies.astype(np.float64))
    turns -= size * np.rint(turns / size)
    turns *= np.pi / size
    sine = np.sin(turns)
    return -2.0 * sine * (sine + 1j * np.cos(turns))
