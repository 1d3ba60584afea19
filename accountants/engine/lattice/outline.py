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
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.enclosure import Tails
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray


_LEAST, _MOST = -100, 31  # octaves of |loss| [nat] that are scanned
_PER_OCTAVE = 8  # cells in an octave that holds mass: their losses differ by 9 %, so estimates of log δ by about 1 %
_BELOW_END = 1.0 - 1e-9  # share of a largest loss above which there is only an atom, a single loss with mass
_NO_MASS = -15.0  # log mass between this share of the largest loss and that loss, which only an atom exceeds
_NEGLIGIBLE = 1e-10  # share of the second moment below which an octave is one cell


@dataclass(frozen=True)
class Side:
    """A table of tail probabilities of the loss L under two distributions P and Q, on one side of zero.

    The tail at the distance e from zero is the probability of L > e, or of L < −e for negative losses.

    Attributes:
        read: function that evaluates the log tails under P and under Q at given distances e.
        sign: 1 for positive losses, −1 for negative ones.
        log_atom: log of the mass of the infinite loss under P.
        edges: increasing distances e from zero in nats, the first of which is 0.
        log_p: log P(L > e), with the infinite loss, or log P(L < −e).
        log_q: log Q(L > e), or log Q(L < −e).
    """

    read: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    sign: int
    log_atom: float
    edges: FloatArray
    log_p: FloatArray
    log_q: FloatArray

    def add_edges(self, extra: FloatArray) -> Side:
        """Return a table with more distances from zero, and the tails at these distances.

        Args:
            extra: distances from zero in nats, in any order. A distance that is in the table already is ignored.

        Returns:
            The larger table, with increasing distances and monotone tails.
        """
        extra_p, extra_q = self.read(extra)
        edges = np.concatenate((self.edges, extra))
        log_p, log_q = np.concatenate((self.log_p, extra_p)), np.concatenate((self.log_q, extra_q))

        # Sorted distances, without repetitions. Rounding errors must not make a tail increase.
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
        """Return the table with only the edges of the given indices, which increase."""
        return replace(self, edges=self.edges[chosen], log_p=self.log_p[chosen], log_q=self.log_q[chosen])

    def truncate(self, count: int) -> Side:
        """Return the table with only its first `count` edges."""
        return replace(self, edges=self.edges[:count], log_p=self.log_p[:count], log_q=self.log_q[:count])

    @cached_property
    def widths(self) -> FloatArray:
        """Width of each cell between edges, in nats."""
        return np.diff(self.edges)

    @cached_property
    def log_masses(self) -> FloatArray:
        """Log mass under P of each cell, that is, of the interval between two successive edges.

        It is −∞ if the difference of the tails may be a rounding error.
        """
        inner_tail = np.where(np.isneginf(self.log_p[:-1]), 0.0, self.log_p[:-1])
        rounding = 1e3 * UNIT_ROUNDOFF * (1.0 + np.abs(inner_tail))
        is_empty = self.log_p[1:] - inner_tail > -rounding
        return np.where(is_empty, -np.inf, difference(self.log_p[:-1], self.log_p[1:]))

    @cached_property
    def locations(self) -> FloatArray:
        """Loss log(p/q) in nats of each cell (interval of losses) with the masses p under P and q under Q.

        It is clipped to the cell, because rounding may place it outside. If both masses are 0, it is the middle.
        """
        log_p, log_q = self.log_masses, difference(self.log_q[:-1], self.log_q[1:])
        # Absolute losses, like the edges: the sign is 1 for the positive losses and −1 for the negative ones.
        with np.errstate(invalid="ignore"):
            absolute_loss = self.sign * (log_p - log_q)
        middle = 0.5 * (self.edges[1:] + self.edges[:-1])
        absolute_loss = np.where(np.isnan(absolute_loss), middle, absolute_loss)
        return self.sign * np.clip(absolute_loss, self.edges[:-1], self.edges[1:])

    def find_occupied(self) -> IntArray:
        """Return the indices of the cells with mass, in increasing order."""
        return np.flatnonzero(np.isfinite(self.log_masses))

    @cached_property
    def end(self) -> float:
        """Outer edge of the last cell with mass, in nats; 0 if no cell has mass."""
        occupied = self.find_occupied()
        return float(self.edges[occupied[-1] + 1]) if occupied.size else 0.0


class Edge(NamedTuple):
    """Bound of a loss on one side of zero.

    Attributes:
        distance: absolute value of the bound, in nats.
        atom: whether the loss is equal to the bound with a positive probability.
    """

    distance: float
    atom: bool


@dataclass(frozen=True)
class Outline:
    """Coarse table of the tails of a loss distribution on both sides of zero; the remaining mass is at zero.

    Attributes:
        right: tails of the positive losses.
        left: tails of the negative losses.
        atomic: whether the distribution is known to be discrete.
        span: largest s such that every possible loss is a multiple of s, in nats; None if no such s is known.
        edge: bound of the loss that is nearest to zero; None if the loss is unbounded on both sides.
    """

    right: Side
    left: Side
    atomic: bool = False
    span: float | None = None
    edge: Edge | None = None

    def without_largest(self, log_mass: float) -> Outline:
        """Return the table without the largest finite losses, if these are improbable together.

        Rare giant losses could otherwise dominate weighted sums, although they hardly affect δ.

        Args:
            log_mass: log of about the largest total mass that may be left out.
        """
        masses = self.right.log_masses
        if not masses.size:
            return self
        # Log mass of each cell and all larger losses together.
        log_mass_beyond = np.logaddexp.accumulate(masses[::-1])[::-1]
        negligible = np.flatnonzero(log_mass_beyond <= log_mass)
        if not negligible.size:
            return self
        # The edges up to the first cell that is negligible together with all larger losses, but at least two.
        edges = int(negligible[0]) + 1
        if edges >= self.right.edges.size:
            return self
        return replace(self, right=self.right.truncate(max(edges, 2)))

    @cached_property
    def log_zero(self) -> float:
        """Log of the mass of the loss 0, which is 1 minus both tails; −∞ if the difference may be a rounding error."""
        rest = -math.expm1(min(0.0, float(np.logaddexp(self.right.log_p[0], self.left.log_p[0]))))
        return math.log(rest) if rest > 4 * UNIT_ROUNDOFF else -math.inf  # above the rounding of 1

    @property
    def extent(self) -> float:
        """Upper bound on the finite losses in nats, the outer edge of the last cell with mass; 0 if there is none."""
        return self.right.end

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Losses in nats and log masses of all cells with mass, and of the loss 0 if it has mass.

        If nothing has mass, it is the loss 0 with the mass 1.
        """
        location = np.concatenate((self.left.locations, [0.0], self.right.locations))
        log_mass = np.concatenate((self.left.log_masses, [self.log_zero], self.right.log_masses))
        has_mass = np.isfinite(log_mass)
        if not has_mass.any():
            return np.zeros(1), np.zeros(1)
        return location[has_mass], log_mass[has_mass]


def join_outlines(outlines: Sequence[Outline], counts: FloatArray) -> FlatDistributions:
    """Convert several coarse tables of tails to discrete loss distributions in flat arrays.

    Each cell of a table, an interval of losses, becomes a single loss with the mass of the cell.

    Args:
        outlines: coarse table of the tail probabilities of each loss distribution.
        counts: number of rounds of each distribution.

    Returns:
        The losses in nats with their log masses, one distribution after the other.
    """
    points = [outline.points for outline in outlines]
    locations = [location for location, _ in points]
    log_masses = [log_mass for _, log_mass in points]
    sizes = np.asarray([location.size for location in locations])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return FlatDistributions(np.concatenate(locations), np.concatenate(log_masses), starts.astype(np.int64), counts)


def outline(first: Profile, second: Profile) -> Outline:
    """Return a coarse table of the tails of the privacy loss of P against Q, for positive and for negative losses.

    The losses at which the tails are tabulated form a geometric grid on each side of zero. The tails of (Q, P) are
    those of the negative losses of (P, Q), with the two distributions exchanged. If a profile states a largest loss
    (`supremum`), the table has it as an additional point.

    Args:
        first: profile of (P, Q).
        second: profile of (Q, P).

    Returns:
        The table. It also states the nearer of the two largest losses, if any, and whether this loss has mass.
    """

    def right_tails(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(L > e) and log Q(L > e) at distances e."""
        return _log_tails(first, edges)

    def left_tails(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(L < −e) and log Q(L < −e) at distances e."""
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
    """Return a table of tails with edges at the largest loss and just below it.

    Between these two edges, only a single loss with a positive probability (an atom) has a mass that is not negligible.

    Args:
        side: the table.
        end: largest loss on this side, in nats. If it is 0 or math.inf, nothing is added.

    Returns:
        The table, with two more edges or unchanged.
    """
    return side.add_edges(np.asarray([_BELOW_END * end, end])) if 0.0 < end < math.inf else side


def _has_atom(side: Side, end: float) -> bool:
    """Return whether the largest loss on one side of zero has a positive probability (is an atom).

    Args:
        side: table of the tails, with an edge just below the largest loss.
        end: the largest loss, in nats.

    Returns:
        True if the mass between that edge and the largest loss is not negligible.
    """
    below = int(np.searchsorted(side.edges, _BELOW_END * end))
    return bool(side.log_masses[below] > _NO_MASS)


def _log_tails(profile: Profile, edges: FloatArray) -> Tails:
    """Return the log tails of a profile at each ε ≥ 0 in nats, without floating-point warnings."""
    with np.errstate(all="ignore"):
        return profile.log_tails(edges)


def _scan(read: Callable[[FloatArray], tuple[FloatArray, FloatArray]], sign: int, log_atom: float) -> Side:
    """Return a table of the tails of the loss on one side of zero, with a geometric grid where the loss has mass.

    An octave is a factor of two of the loss. Each octave with mass is divided into `_PER_OCTAVE` cells (intervals).
    Octaves near zero with a negligible share of the second moment become one cell.

    Args:
        read: function from distances to the log tails under both distributions.
        sign: 1 for positive losses, −1 for negative ones.
        log_atom: log of the mass of the infinite loss under the first distribution.

    Returns:
        The table of the tails on this side.
    """
    # In the first table, each octave is a cell.
    edges = np.concatenate(([0.0], np.exp2(np.arange(_LEAST, _MOST + 1))))
    log_p, log_q = read(edges)
    octaves = Side(read, sign, log_atom, edges, np.minimum.accumulate(log_p), np.minimum.accumulate(log_q))
    occupied = octaves.find_occupied()
    if not occupied.size:
        return octaves.truncate(2)  # the cell at zero only

    # The second moment decides from which octave on cells are divided. Losses above 1 count as 1 in it.
    last = int(occupied[-1])
    second_moments = np.exp(octaves.log_masses) * np.minimum(edges[1:], 1.0) ** 2
    negligible = _NEGLIGIBLE * second_moments.sum()
    first = min(int(np.searchsorted(np.cumsum(second_moments), negligible)), last)
    # Keep zero, and the edges of the octaves from the first to the last.
    kept_edges = np.concatenate(([0], np.arange(max(first, 1), last + 2)))
    side = octaves.select(kept_edges)

    # These octaves are divided into cells with a constant ratio of their edges. The cell next to zero stays.
    within_octave = np.exp2(np.arange(_PER_OCTAVE) / _PER_OCTAVE)
    starts_of_octaves = side.edges[1:-1]
    return side.add_edges((starts_of_octaves[:, None] * within_octave).ravel())
