"""What a law of losses looks like before a grid is chosen: its tails at a few hundred points.

Nothing here is certified. An outline says where the mass of a tilted law lies, so that cells are spent where they
matter; every number of an answer comes from `discretise.py` and `spectrum.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.discretise import difference
from epsilond.accountants.engine.lattice.tilted import IntArray, Weighted
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from epsilond.accountants.curve.enclosure import Tails
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray


_LEAST, _MOST = -100, 31  # octaves of |loss| [nat] that are looked at
UNBOUNDED = 2.0**_MOST  # loss [nat] from which on a side counts as unbounded: the last edge of the first look
_PER_OCTAVE = 4  # cells in an octave that holds mass: their losses differ by 19 %, so estimates of log δ by about 3 %
_NEGLIGIBLE = 1e-10  # share of the second moment below which an octave is one cell


@dataclass(frozen=True)
class Side:
    """Tails of the loss on one side of zero, at increasing distances `edges` from it, edges[0] = 0.

    `log_p` and `log_q` are log masses under the first and the second law of {L > e}, or of {L < −e} if `sign` is −1.
    They include an infinite loss, of first-law mass e^`log_atom`.
    """

    read: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    sign: int
    log_atom: float
    edges: FloatArray
    log_p: FloatArray
    log_q: FloatArray

    def with_edges(self, extra: FloatArray) -> Side:
        """The same side, looked at in more places."""
        log_p, log_q = self.read(extra)
        edges = np.concatenate((self.edges, extra))
        order = np.argsort(edges, kind="stable")
        order = order[np.diff(edges[order], prepend=-1.0) > 0.0]
        return Side(
            self.read,
            self.sign,
            self.log_atom,
            edges[order],
            np.minimum.accumulate(np.concatenate((self.log_p, log_p))[order]),
            np.minimum.accumulate(np.concatenate((self.log_q, log_q))[order]),
        )

    def up_to(self, count: int) -> Side:
        """The first so many edges."""
        if count >= self.edges.size:
            return self
        return Side(self.read, self.sign, self.log_atom, self.edges[:count], self.log_p[:count], self.log_q[:count])

    @cached_property
    def widths(self) -> FloatArray:
        """Width of each cell between edges."""
        return np.diff(self.edges)

    @cached_property
    def log_masses(self) -> FloatArray:
        """First-law log mass of each cell; differences within rounding of the tail count as empty."""
        gap = self.log_p[1:] - np.where(np.isneginf(self.log_p[:-1]), 0.0, self.log_p[:-1])
        empty = gap > -1e3 * UNIT_ROUNDOFF * (
            1.0 + np.abs(np.where(np.isneginf(self.log_p[:-1]), 0.0, self.log_p[:-1]))
        )
        return np.where(empty, -np.inf, difference(self.log_p[:-1], self.log_p[1:]))

    @cached_property
    def locations(self) -> FloatArray:
        """log P/Q of each cell: merged, it keeps both masses, hence K(0) and K(−1)."""
        log_q = difference(self.log_q[:-1], self.log_q[1:])
        with np.errstate(invalid="ignore"):
            distance = self.sign * (self.log_masses - log_q)
        middle = 0.5 * (self.edges[1:] + self.edges[:-1])
        inside = np.clip(np.where(np.isnan(distance), middle, distance), self.edges[:-1], self.edges[1:])
        return self.sign * inside

    def occupied(self) -> IntArray:
        """Indices of cells that hold mass."""
        return np.flatnonzero(np.isfinite(self.log_masses))

    @cached_property
    def end(self) -> float:
        """The outer edge of the last cell with mass."""
        held = self.occupied()
        return float(self.edges[held[-1] + 1]) if held.size else 0.0


class Edge(NamedTuple):
    """Where a bounded loss ends, as a distance from zero, and whether it has mass there."""

    distance: float
    atom: bool


@dataclass(frozen=True)
class Outline:
    """Both sides of one law of losses, and the remaining mass at zero."""

    right: Side
    left: Side
    atomic: bool = False
    """Whether all the mass is known to be at single losses."""
    span: float | None = None
    """The largest length of which every loss with mass is a multiple, if all the mass is at single losses."""
    edge: Edge | None = None
    """The nearer end of the loss, if it is bounded on either side."""

    def shallow(self, log_mass: float) -> Outline:
        """The same without the largest finite losses, of total mass about e^`log_mass` at most."""
        masses = self.right.log_masses
        if not masses.size:
            return self
        beyond = np.flatnonzero(np.logaddexp.accumulate(masses[::-1])[::-1] <= log_mass)
        kept = int(beyond[0]) + 1 if beyond.size else masses.size + 1
        if kept >= self.right.edges.size:
            return self
        return Outline(self.right.up_to(max(kept, 2)), self.left, self.atomic, self.span, self.edge)

    @cached_property
    def log_zero(self) -> float:
        """log mass of L = 0."""
        rest = -math.expm1(min(0.0, float(np.logaddexp(self.right.log_p[0], self.left.log_p[0]))))
        return math.log(rest) if rest > 4 * UNIT_ROUNDOFF else -math.inf

    @property
    def extent(self) -> float:
        """The largest finite loss, or a little more; 0 if there is none above zero."""
        return self.right.end

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Merged losses and their log masses."""
        location = np.concatenate((self.left.locations, [0.0], self.right.locations))
        log_mass = np.concatenate((self.left.log_masses, [self.log_zero], self.right.log_masses))
        held = np.isfinite(log_mass)
        return (location[held], log_mass[held]) if held.any() else (np.zeros(1), np.zeros(1))


def weighted(outlines: Sequence[Outline], counts: FloatArray) -> Weighted:
    """The outlines as tiltable laws."""
    points = [outline.points for outline in outlines]
    sizes = np.asarray([location.size for location, _ in points])
    return Weighted(
        np.concatenate([location for location, _ in points]),
        np.concatenate([log_mass for _, log_mass in points]),
        np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64),
        counts,
    )


def outline(first: Profile, second: Profile) -> Outline:
    """Look at the loss of (P, Q), `first` its profile and `second` that of (Q, P)."""

    def right(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _quiet(first, edges)

    def left(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        log_q, log_p = _quiet(second, edges)
        return log_p, log_q

    return Outline(_scan(right, 1, first.log_infinite_mass), _scan(left, -1, -math.inf))


def _quiet(profile: Profile, edges: FloatArray) -> Tails:
    with np.errstate(all="ignore"):
        return profile.log_tails(edges)


def _scan(read: Callable[[FloatArray], tuple[FloatArray, FloatArray]], sign: int, log_atom: float) -> Side:
    """Whole octaves first; then four cells to each octave that matters."""
    edges = np.concatenate(([0.0], np.exp2(np.arange(_LEAST, _MOST + 1))))
    log_p, log_q = read(edges)
    side = Side(read, sign, log_atom, edges, np.minimum.accumulate(log_p), np.minimum.accumulate(log_q))
    held = side.occupied()
    if not held.size:
        return Side(read, sign, log_atom, edges[:2], side.log_p[:2], side.log_q[:2])
    square = np.exp(side.log_masses) * np.minimum(edges[1:], 1.0) ** 2
    first = min(int(np.searchsorted(np.cumsum(square), _NEGLIGIBLE * square.sum())), int(held[-1]))
    kept = np.concatenate(([0], np.arange(max(first, 1), held[-1] + 2)))
    side = Side(read, sign, log_atom, edges[kept], side.log_p[kept], side.log_q[kept])
    inner = np.exp2(np.arange(_PER_OCTAVE) / _PER_OCTAVE)
    return side.with_edges((side.edges[1:-1, None] * inner).ravel())


# What a lattice should be aligned with: the atoms of a loss, or the end of a bounded one ----------------------------
#
# Nothing here is certified; a lattice that is not aligned gives wider ends.
_FEW_ATOMS = 64
"""Most cells that are divided until each holds one loss: each pass reads 32 tails for each of them."""
_MOST_CELLS = 2**14
"""Most multiples of a span on one side: each is read twice to see that the mass is on no other losses."""
_STEPS = np.linspace(0.0, 1.0, 33)[1:-1]
"""Places within a cell, as shares of its width: 31, so that a pass makes cells 32 times narrower."""
_ROUNDS = 11
"""Passes until a cell is two doubles: 53 bits at 5 each."""
_TELLING, _MOST_FALLS = 2, 8
"""Pass after which a cell whose tail still falls at more than so many places counts as a density."""


def aligned(coarse: Outline, profile: Profile) -> Outline:
    """The outline of a profile with its atoms, span and edge found, as far as there are any.

    Of many losses the profile's own word is taken; of few the very places are found, and kept among the edges.
    """
    if profile.span is not None:
        if max(side.end for side in (coarse.right, coarse.left)) <= _MOST_CELLS * profile.span:
            return replace(coarse, atomic=True, span=profile.span)
        return _bounded(coarse)
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
