"""What a law of losses looks like before a grid is chosen: its tails at a few hundred points.

Nothing here is certified. An outline says where the mass of a tilted law lies, so that cells are spent where they
matter; every number of an answer comes from `discretise.py` and `spectrum.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.discretise import difference
from epsilond.accountants.engine.lattice.tilted import IntArray, Weighted
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve import Profile, Tails
    from epsilond.accountants.numerics.special import FloatArray

_LEAST, _MOST = -100, 31  # octaves of |loss| that are looked at
UNBOUNDED = 2.0**_MOST
_PER_OCTAVE = 4
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
        edges = np.union1d(self.edges, extra)
        new = np.setdiff1d(edges, self.edges)
        log_p, log_q = self.read(new)
        order = np.argsort(np.concatenate((self.edges, new)))
        return Side(
            self.read,
            self.sign,
            self.log_atom,
            edges,
            np.minimum.accumulate(np.concatenate((self.log_p, log_p))[order]),
            np.minimum.accumulate(np.concatenate((self.log_q, log_q))[order]),
        )

    def up_to(self, count: int) -> Side:
        """The first so many edges."""
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

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Merged losses and their log masses."""
        location = np.concatenate((self.left.locations, [0.0], self.right.locations))
        log_mass = np.concatenate((self.left.log_masses, [self.log_zero], self.right.log_masses))
        held = np.isfinite(log_mass)
        return (location[held], log_mass[held]) if held.any() else (np.zeros(1), np.zeros(1))


def weighted(outlines: Sequence[Outline], counts: FloatArray) -> Weighted:
    """The outlines as tiltable laws."""
    points = [outline.points() for outline in outlines]
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
