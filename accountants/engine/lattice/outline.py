"""Outline of a distribution of losses before a grid is chosen: its tails at a few hundred points.

An outline locates the mass of a tilted distribution, so that cells are dense where they matter. It affects tightness,
not validity: every bound of an answer comes from `discretise.py` and `spectrum.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.lattice.cells.logarithms import difference
from epsilond.accountants.engine.lattice.tilted import FlatDistributions, IntArray
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from epsilond.accountants.curve.enclosure import Tails
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray


_LEAST, _MOST = -100, 31  # octaves of |loss| [nat] that are scanned
_PER_OCTAVE = 8  # cells in an octave that holds mass: their losses differ by 9 %, so estimates of log δ by about 1 %
_BELOW_END = 1.0 - 1e-9  # share of a largest loss above which only an atom lies
_NO_MASS = -15.0  # log mass between this share of the largest loss and that loss, which only an atom exceeds
_NEGLIGIBLE = 1e-10  # share of the second moment below which an octave is one cell


@dataclass(frozen=True)
class Side:
    """A table of the tails of the loss L on one side of zero.

    Attributes:
        read: function from distances to the log tails under both distributions.
        sign: 1 for positive losses, −1 for negative ones.
        log_atom: log of the mass of the infinite loss under the first distribution.
        edges: increasing distances e from zero, the first of which is 0.
        log_p: log mass of {L > e}, or of {L < −e}, under the first distribution, with the infinite loss.
        log_q: the same under the second distribution.
    """

    read: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    sign: int
    log_atom: float
    edges: FloatArray
    log_p: FloatArray
    log_q: FloatArray

    def add_edges(self, extra: FloatArray) -> Side:
        """Return this table of tails of the loss with additional points, at which the tails are evaluated.

        Args:
            extra: distances from zero, in any order.
        """
        extra_p, extra_q = self.read(extra)
        edges = np.concatenate((self.edges, extra))
        log_p, log_q = np.concatenate((self.log_p, extra_p)), np.concatenate((self.log_q, extra_q))
        increasing = np.argsort(edges, kind="stable")
        is_distinct = np.diff(edges[increasing], prepend=-1.0) > 0.0
        chosen = increasing[is_distinct]
        return replace(
            self,
            edges=edges[chosen],
            log_p=np.minimum.accumulate(log_p[chosen]),
            log_q=np.minimum.accumulate(log_q[chosen]),
        )

    def select(self, chosen: IntArray) -> Side:
        """Return the side with the edges of the given indices only."""
        return replace(self, edges=self.edges[chosen], log_p=self.log_p[chosen], log_q=self.log_q[chosen])

    def truncate(self, count: int) -> Side:
        """Return the side with its first `count` edges only."""
        return replace(self, edges=self.edges[:count], log_p=self.log_p[:count], log_q=self.log_q[:count])

    @cached_property
    def widths(self) -> FloatArray:
        """Width of each cell between edges, in nats."""
        return np.diff(self.edges)

    @cached_property
    def log_masses(self) -> FloatArray:
        """Log mass of each cell under the first distribution. Differences within rounding of the tail count as 0."""
        inner_tail = np.where(np.isneginf(self.log_p[:-1]), 0.0, self.log_p[:-1])
        rounding = 1e3 * UNIT_ROUNDOFF * (1.0 + np.abs(inner_tail))
        is_empty = self.log_p[1:] - inner_tail > -rounding
        return np.where(is_empty, -np.inf, difference(self.log_p[:-1], self.log_p[1:]))

    @cached_property
    def locations(self) -> FloatArray:
        """Loss log(p/q) of each cell with the masses p and q under both distributions, in nats.

        It is moved into the cell if rounding places it outside, and to the middle if both masses are 0.
        """
        log_q = difference(self.log_q[:-1], self.log_q[1:])
        with np.errstate(invalid="ignore"):
            distance = self.sign * (self.log_masses - log_q)
        middle = 0.5 * (self.edges[1:] + self.edges[:-1])
        distance = np.where(np.isnan(distance), middle, distance)
        return self.sign * np.clip(distance, self.edges[:-1], self.edges[1:])

    def find_occupied(self) -> IntArray:
        """Return the indices of the cells with mass."""
        return np.flatnonzero(np.isfinite(self.log_masses))

    @cached_property
    def end(self) -> float:
        """Outer edge of the last cell with mass, in nats."""
        occupied = self.find_occupied()
        return float(self.edges[occupied[-1] + 1]) if occupied.size else 0.0


class Edge(NamedTuple):
    """The largest loss on one side of zero, where a distribution of losses ends.

    Attributes:
        distance: its distance from zero, in nats.
        atom: whether it has a positive probability.
    """

    distance: float
    atom: bool


@dataclass(frozen=True)
class Outline:
    """A coarse table of the tails of a loss distribution on both sides of zero; the remaining mass is at zero.

    Attributes:
        right: tails of the positive losses.
        left: tails of the negative losses.
        atomic: whether all mass is known to be at single losses.
        span: largest number of which every loss with mass is a multiple, if all mass is at single losses.
        edge: nearest bound of the loss, if it is bounded on either side.
    """

    right: Side
    left: Side
    atomic: bool = False
    span: float | None = None
    edge: Edge | None = None

    def without_largest(self, log_mass: float) -> Outline:
        """Return the outline without its largest finite losses.

        Args:
            log_mass: log of the largest total mass of these losses, approximately.
        """
        masses = self.right.log_masses
        if not masses.size:
            return self
        log_mass_beyond = np.logaddexp.accumulate(masses[::-1])[::-1]
        negligible = np.flatnonzero(log_mass_beyond <= log_mass)
        if not negligible.size:
            return self
        edges = int(negligible[0]) + 1
        if edges >= self.right.edges.size:
            return self
        return replace(self, right=self.right.truncate(max(edges, 2)))

    @cached_property
    def log_zero(self) -> float:
        """Log mass of L = 0."""
        rest = -math.expm1(min(0.0, float(np.logaddexp(self.right.log_p[0], self.left.log_p[0]))))
        return math.log(rest) if rest > 4 * UNIT_ROUNDOFF else -math.inf

    @property
    def extent(self) -> float:
        """Largest finite loss in nats, or a little more; 0 if no loss is above zero."""
        return self.right.end

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Merged losses and their log masses."""
        location = np.concatenate((self.left.locations, [0.0], self.right.locations))
        log_mass = np.concatenate((self.left.log_masses, [self.log_zero], self.right.log_masses))
        has_mass = np.isfinite(log_mass)
        return (location[has_mass], log_mass[has_mass]) if has_mass.any() else (np.zeros(1), np.zeros(1))


def join_outlines(outlines: Sequence[Outline], counts: FloatArray) -> FlatDistributions:
    """Return the cells of several outlines (coarse tables of tails) as discrete distributions of the loss.

    Args:
        outlines: outline of each distribution.
        counts: number of rounds of each distribution.
    """
    points = [outline.points for outline in outlines]
    sizes = np.asarray([location.size for location, _ in points])
    return FlatDistributions(
        np.concatenate([location for location, _ in points]),
        np.concatenate([log_mass for _, log_mass in points]),
        np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64),
        counts,
    )


def outline(first: Profile, second: Profile) -> Outline:
    """Return a coarse table of the tails of the loss of P against Q, on geometric grids on both sides of zero.

    Args:
        first: profile of (P, Q).
        second: profile of (Q, P).
    """

    def right_tails(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _log_tails(first, edges)

    def left_tails(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        log_q, log_p = _log_tails(second, edges)
        return log_p, log_q

    right = _add_end(_scan(right_tails, 1, first.log_infinite_mass), first.supremum)
    left = _add_end(_scan(left_tails, -1, -math.inf), second.supremum)
    nearest_end = min(first.supremum, second.supremum)
    if nearest_end == math.inf:
        return Outline(right, left)
    side_of_end = right if nearest_end == first.supremum else left
    return Outline(right, left, edge=Edge(nearest_end, _has_atom(side_of_end, nearest_end)))


def _add_end(side: Side, end: float) -> Side:
    """Return the side with edges at its largest loss and just below it, with at most an atom between them."""
    return side.add_edges(np.asarray([_BELOW_END * end, end])) if 0.0 < end < math.inf else side


def _has_atom(side: Side, end: float) -> bool:
    """Return whether a side has mass at its largest loss."""
    below = int(np.searchsorted(side.edges, _BELOW_END * end))
    return bool(side.log_masses[below] > _NO_MASS)


def _log_tails(profile: Profile, edges: FloatArray) -> Tails:
    """Return the log tails of a profile, without floating-point warnings."""
    with np.errstate(all="ignore"):
        return profile.log_tails(edges)


def _scan(read: Callable[[FloatArray], tuple[FloatArray, FloatArray]], sign: int, log_atom: float) -> Side:
    """Return a table of the tails of the loss on one side of zero, with `_PER_OCTAVE` cells per octave that has mass.

    An octave is a factor of two of the loss. Octaves near zero with a negligible share of the second moment become one
    cell.

    Args:
        read: function from distances to the log tails under both distributions.
        sign: 1 for positive losses, −1 for negative ones.
        log_atom: log of the mass of the infinite loss under the first distribution.
    """
    edges = np.concatenate(([0.0], np.exp2(np.arange(_LEAST, _MOST + 1))))
    log_p, log_q = read(edges)
    octaves = Side(read, sign, log_atom, edges, np.minimum.accumulate(log_p), np.minimum.accumulate(log_q))
    occupied = octaves.find_occupied()
    if not occupied.size:
        return octaves.truncate(2)
    last = int(occupied[-1])
    second_moments = np.exp(octaves.log_masses) * np.minimum(edges[1:], 1.0) ** 2
    negligible = _NEGLIGIBLE * second_moments.sum()
    first = min(int(np.searchsorted(np.cumsum(second_moments), negligible)), last)
    side = octaves.select(np.concatenate(([0], np.arange(max(first, 1), last + 2))))
    within_octave = np.exp2(np.arange(_PER_OCTAVE) / _PER_OCTAVE)
    return side.add_edges((side.edges[1:-1, None] * within_octave).ravel())


# The atoms of a loss, which a lattice should be aligned with ---------------------------------------------------------
#
# Alignment affects tightness, not validity: a lattice that is not aligned gives wider enclosures.
_FEW_ATOMS = 64
"""Largest number of cells that are divided until each holds one loss: each pass reads 32 tails for each cell."""
_MOST_CELLS = 2**14
"""Largest number of multiples of a span on one side: beyond it, the span is finer than the cells of the budget."""
_STEPS = np.linspace(0.0, 1.0, 33)[1:-1]
"""Points that divide a cell, as shares of its width: 31 of them make cells 32 times narrower in each pass."""
_ROUNDS = 11
"""Number of passes until a cell spans two doubles: 53 bits at 5 bits per pass."""


def locate_atoms(coarse: Outline, profile: Profile) -> Outline:
    """Locate the single losses (atoms) that have all the mass, if there are few of them.

    The span is the largest number of which all atoms are multiples. If the profile states it, it is used without a
    search. Otherwise, cells with mass are divided until each has one loss.

    Args:
        coarse: the outline of the profile.
        profile: the profile.

    Returns:
        The outline with edges at the atoms and with their span; `coarse` unchanged if there are many atoms, or none.
    """
    if profile.span is not None:
        largest_loss = max(coarse.right.end, coarse.left.end)
        if largest_loss > _MOST_CELLS * profile.span:
            return coarse
        return replace(coarse, atomic=True, span=profile.span)
    right, left = coarse.right, coarse.left
    for _ in range(_ROUNDS):
        right_cells, left_cells = right.find_occupied(), left.find_occupied()
        if right_cells.size + left_cells.size > _FEW_ATOMS:
            return coarse
        right, left = _divide(right, right_cells), _divide(left, left_cells)
    atoms = [float(side.edges[i + 1]) for side in (left, right) for i in side.find_occupied()]
    return replace(coarse, right=right, left=left, atomic=True, span=common_span(atoms))


def _divide(side: Side, cells: IntArray) -> Side:
    """Divide the given cells into `_STEPS.size + 1` parts each; edges between other cells are dropped.

    Args:
        side: table of the tails of the losses on one side of zero, at the edges of cells.
        cells: indices of the cells to divide.

    Returns:
        The new table. The first and the last edge are kept.
    """
    first_and_last = [0, side.edges.size - 1]
    reduced = side.select(np.union1d(np.concatenate((cells, cells + 1)), first_and_last))
    inner_edges = side.edges[cells, None] + side.widths[cells, None] * _STEPS
    return reduced.add_edges(inner_edges.ravel())


def common_span(numbers: Iterable[float | None]) -> float | None:
    """Return the largest number g of which all given numbers are multiples, within rounding.

    Args:
        numbers: the numbers; None and numbers that are not positive are ignored.

    Returns:
        g; None if there is none, or if a number is more than `_MOST_CELLS` times g.
    """
    sizes = sorted(number for number in numbers if number is not None and number > 0)
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
    """Return the greatest common divisor of two numbers, up to a tolerance, by Euclid's algorithm."""
    while second > tolerance:
        first, second = second, abs(math.remainder(first, second))
    return first
