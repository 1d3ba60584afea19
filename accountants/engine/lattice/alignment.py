"""What a lattice should be aligned with: the atoms of a loss, or the end of a bounded one.

Nothing here is certified; a lattice that is not aligned gives wider ends.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.outline import UNBOUNDED, Edge, Outline, Side
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.engine.lattice.tilted import IntArray
    from epsilond.accountants.numerics.special import FloatArray

_FEW_ATOMS = 64
_MOST_CELLS = 2**14
_ROUNDS = 11
_TELLING, _MOST_FALLS = 2, 8
_STEPS = np.linspace(0.0, 1.0, 33)[1:-1]


def aligned(coarse: Outline) -> Outline:
    """The outline with its atoms, span and edge found, as far as there are any."""
    few = _all_atoms(coarse)
    if few is not None:
        return few
    span = common_span(
        [distance for side in (coarse.right, coarse.left) for distance in _some_points(side)], least=1.0 / _MOST_CELLS
    )
    if span is not None and all(_empty_between(side, span) for side in (coarse.right, coarse.left)):
        return replace(coarse, atomic=True, span=span)
    return _bounded(coarse)


def common_span(marks: Iterable[float | None], *, least: float = 1e-5) -> float | None:
    """The largest g with every mark a multiple of g, if there is one above `least` of the largest mark."""
    sizes = sorted(mark for mark in marks if mark is not None and mark > 0)
    if not sizes:
        return None
    divisor = 0.0
    for size in sizes:
        divisor = _float_gcd(divisor, size, 1e-9 * sizes[-1])
    if divisor < least * sizes[-1]:
        return None
    span = sizes[-1] / round(sizes[-1] / divisor)
    fits = all(abs(size - span * round(size / span)) <= 1e-11 * sizes[-1] for size in sizes)
    return span if fits else None


def _float_gcd(first: float, second: float, tolerance: float) -> float:
    while second > tolerance:
        first, second = second, abs(math.remainder(first, second))
    return first


def _all_atoms(coarse: Outline) -> Outline | None:
    """If few cells stay occupied under repeated division, they are points."""
    right, left = coarse.right, coarse.left
    for _ in range(_ROUNDS):
        if right.occupied().size + left.occupied().size > _FEW_ATOMS:
            return None
        right, left = _divided(right, right.occupied()), _divided(left, left.occupied())
    atoms = [float(side.edges[i + 1]) for side in (left, right) for i in side.occupied()]
    return replace(coarse, right=right, left=left, atomic=True, span=common_span(atoms))


def _divided(side: Side, cells: IntArray) -> Side:
    """Divide the given cells; edges between other cells are dropped."""
    kept = np.union1d(np.concatenate(([0], cells, cells + 1)), [side.edges.size - 1])
    lean = replace(side, edges=side.edges[kept], log_p=side.log_p[kept], log_q=side.log_q[kept])
    return lean.with_edges((side.edges[cells, None] + side.widths[cells, None] * _STEPS).ravel())


def _some_points(side: Side) -> FloatArray:
    """A few losses with mass: cells of the outline, divided towards zero. None if the mass has no gaps."""
    held = side.occupied()
    cells = held[np.unique(np.linspace(0, held.size - 1, 6).astype(np.int64))] if held.size else held
    low, high = side.edges[cells], side.edges[cells + 1]
    for attempt in range(_ROUNDS):
        edges = np.concatenate((low[:, None], low[:, None] + (high - low)[:, None] * _STEPS, high[:, None]), axis=1)
        log_p = side.read(edges.ravel())[0].reshape(edges.shape)
        with np.errstate(invalid="ignore"):
            falls = log_p[:, 1:] - log_p[:, :-1] < -1e3 * UNIT_ROUNDOFF * (1.0 + np.abs(log_p[:, :-1]))
        if attempt == _TELLING and np.any(falls.sum(axis=1) > _MOST_FALLS):
            return high[:0]
        first = np.argmax(falls, axis=1)
        rows = np.arange(cells.size)
        low, high = edges[rows, first], edges[rows, first + 1]
    return high


def _empty_between(side: Side, span: float) -> bool:
    """Whether the tail is constant strictly between multiples of the span."""
    most = round(side.end / span) if side.occupied().size else 0
    if most > _MOST_CELLS:
        return False
    edges = span * (np.arange(most + 1)[:, None] + np.asarray([1e-7, 1.0 - 1e-7])).ravel()
    log_p = side.read(edges)[0].reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        falls = log_p[:, 1] - log_p[:, 0] < -1e3 * UNIT_ROUNDOFF * (1.0 + np.abs(log_p[:, 0]))
    return not bool(falls.any())


def _bounded(coarse: Outline) -> Outline:
    """Find the ends of a bounded loss, and keep the nearer."""
    right, left = _to_the_end(coarse.right), _to_the_end(coarse.left)
    ends = [side for side in (right, left) if 0.0 < side.end < UNBOUNDED]
    if not ends:
        return replace(coarse, right=right, left=left)
    side = min(ends, key=lambda each: each.end)
    last = int(side.occupied()[-1])
    atom = bool(side.widths[last] < 1e-9 * side.end and side.log_masses[last] > -30.0)
    return replace(coarse, right=right, left=left, edge=Edge(side.end, atom))


def _to_the_end(side: Side) -> Side:
    for _ in range(_ROUNDS):
        last = side.occupied()[-1:]
        if not last.size or side.end >= UNBOUNDED:
            break
        side = side.with_edges((side.edges[last, None] + side.widths[last, None] * _STEPS).ravel())
    return side
