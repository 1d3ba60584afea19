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
_PER_OCTAVE = 8  # cells in an octave that holds mass: their losses differ by 9 %, so estimates of log δ by about 1 %
_BELOW_END = 1.0 - 1e-9  # share of a largest loss above which only an atom lies
_NO_MASS = -15.0  # log mass above a share `_BELOW_END` of the largest loss that a density does not have
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

    sides = [
        _with_end(_scan(right, 1, first.log_infinite_mass), first.supremum),
        _with_end(_scan(left, -1, -math.inf), second.supremum),
    ]
    ends = (first.supremum, second.supremum)
    end = min(ends)
    return Outline(
        sides[0], sides[1], edge=None if end == math.inf else Edge(end, _has_atom(sides[ends.index(end)], end))
    )


def _with_end(side: Side, end: float) -> Side:
    """Return the side with an edge at its largest loss, and one so close below that only an atom lies between them."""
    return side.with_edges(np.asarray([_BELOW_END * end, end])) if 0.0 < end < math.inf else side


def _has_atom(side: Side, end: float) -> bool:
    """Return whether a side has mass at its largest loss."""
    below = int(np.searchsorted(side.edges, _BELOW_END * end))
    return bool(side.log_masses[below] > _NO_MASS)


def _quiet(profile: Profile, edges: FloatArray) -> Tails:
    with np.errstate(all="ignore"):
        return profile.log_tails(edges)


def _scan(read: Callable[[FloatArray], tuple[FloatArray, FloatArray]], sign: int, log_atom: float) -> Side:
    """Whole octaves first; then `_PER_OCTAVE` cells to each octave that matters."""
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


# The atoms of a loss, which a lattice should be aligned with ---------------------------------------------------------
#
# Nothing here is certified; a lattice that is not aligned gives wider ends.
_FEW_ATOMS = 64
"""Most cells that are divided until each holds one loss: each pass reads 32 tails for each of them."""
_MOST_CELLS = 2**14
"""Most multiples of a span on one side: with more, the span is finer than the cells that the budget has for it."""
_STEPS = np.linspace(0.0, 1.0, 33)[1:-1]
"""Places within a cell, as shares of its width: 31, so that a pass makes cells 32 times narrower."""
_ROUNDS = 11
"""Passes until a cell is two doubles: 53 bits at 5 each."""


def with_atoms(coarse: Outline, profile: Profile) -> Outline:
    """Return the outline of a profile with its atoms and their span, as far as there are any.

    Of many losses the span that the profile states is taken. Of few the very places are found, and kept as edges.
    """
    if profile.span is not None:
        few = max(side.end for side in (coarse.right, coarse.left)) <= _MOST_CELLS * profile.span
        return replace(coarse, atomic=True, span=profile.span) if few else coarse
    right, left = coarse.right, coarse.left
    for _ in range(_ROUNDS):
        if right.occupied().size + left.occupied().size > _FEW_ATOMS:
            return coarse
        right, left = _divided(right, right.occupied()), _divided(left, left.occupied())
    atoms = [float(side.edges[i + 1]) for side in (left, right) for i in side.occupied()]
    return replace(coarse, right=right, left=left, atomic=True, span=common_span(atoms))


def _divided(side: Side, cells: IntArray) -> Side:
    """Divide the given cells; edges between other cells are dropped."""
    kept = np.union1d(np.concatenate(([0], cells, cells + 1)), [side.edges.size - 1])
    lean = replace(side, edges=side.edges[kept], log_p=side.log_p[kept], log_q=side.log_q[kept])
    return lean.with_edges((side.edges[cells, None] + side.widths[cells, None] * _STEPS).ravel())


def common_span(marks: Iterable[float | None]) -> float | None:
    """Return the largest g with every mark a multiple of g; None if the marks are too many multiples of it."""
    sizes = sorted(mark for mark in marks if mark is not None and mark > 0)
    if not sizes:
        return None
    divisor = 0.0
    for size in sizes:
        divisor = _float_gcd(divisor, size, 1e-9 * sizes[-1])
    if sizes[-1] > _MOST_CELLS * divisor:
        return None
    span = sizes[-1] / round(sizes[-1] / divisor)
    fits = all(abs(size - span * round(size / span)) <= 1e-11 * sizes[-1] for size in sizes)
    return span if fits else None


def _float_gcd(first: float, second: float, tolerance: float) -> float:
    while second > tolerance:
        first, second = second, abs(math.remainder(first, second))
    return first
