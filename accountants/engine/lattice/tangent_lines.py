"""Lines below a profile, P(L > m) − α Q(L > m) at thresholds m, and the cells of loss between the thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.cells.logarithms import difference, rounding
from epsilond.accountants.engine.lattice.cells.side_tails import BoolArray, SideTails
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

NOWHERE = -(2**60)
"""An index far below any loss."""


@dataclass(frozen=True)
class LoweredCells:
    """Cells, that is, intervals of losses between neighbouring thresholds, with masses for lower bounds on δ.

    They are in the order of increasing loss. The first and the last one are unbounded. The masses are differences of
    the rounded tails in `TangentLines`, from which only lower bounds on δ follow.

    Attributes:
        low: lower bound of each cell, in lattice units.
        high: upper bound of each cell, in lattice units.
        log_p: log mass under the first distribution P.
        log_q: log mass under the second distribution Q.
    """

    low: IntArray
    high: IntArray
    log_p: FloatArray
    log_q: FloatArray

    @cached_property
    def has_mass(self) -> BoolArray:
        """True for cells with mass under both distributions."""
        return np.isfinite(self.log_p) & np.isfinite(self.log_q)

    @cached_property
    def loss(self) -> FloatArray:
        """Loss log(p/q) of each cell with the masses p and q, in nats; −∞ for cells without mass under P."""
        with np.errstate(invalid="ignore"):
            loss = self.log_p - self.log_q
        return np.where(np.isnan(loss), -np.inf, loss)

    @cached_property
    def lowered_loss(self) -> FloatArray:
        """The loss log(p/q) of each cell in nats, lowered by its rounding error.

        A lattice point below this loss is certainly below the exact loss.
        """
        return np.asarray(self.loss - np.where(self.has_mass, rounding(self.log_p, self.log_q), 0.0))


@dataclass(frozen=True)
class TangentLines:
    """Lines below a profile H(α), as functions of α = e^ε: P(L > m) − α Q(L > m) at thresholds m of the loss L.

    The profile at ε is δ(ε) for the pair of distributions P and Q. It is at least the line at any m, because {L > m} is
    a possible test. All masses are rounded so that the lines are lowered. For a line at a negative threshold −m, the
    masses below the threshold are stored, P(L < −m) and Q(L < −m).

    Attributes:
        right: thresholds above zero, in lattice units, increasing.
        left: distances from zero of the thresholds below zero, in lattice units, increasing.
        p: lower bounds on log P(L > m) at the thresholds m of `right`.
        q: upper bounds on log Q(L > m).
        below_p: upper bounds on log P(L < −m) at the distances m of `left`.
        below_q: lower bounds on log Q(L < −m).
        log_atom: lower bound on log P(L = ∞).
    """

    right: IntArray
    left: IntArray
    p: FloatArray
    q: FloatArray
    below_p: FloatArray
    below_q: FloatArray
    log_atom: float

    @classmethod
    def of(cls, right: SideTails, left: SideTails, log_atom: float) -> TangentLines:
        """Compute lines below the profile H(α), which is δ(ε) at α = e^ε, from bounds on the tails of the loss L.

        The line at the threshold m is P(L > m) − α Q(L > m), with P rounded down and Q rounded up. For m < 0, it is
        computed from P(L < m) and Q(L < m), which are rounded the other way. The rounded tails are made monotone. The
        tails of a distribution on both sides are limited to a sum of at most one.

        There are two exceptions. If P(L > m) may consist of the infinite loss only, Q(L > m) is set to 0, so that the
        line is the constant P(L = ∞). If P(L < m) is 0, Q(L < m) is set to its largest value at such m.

        Args:
            right: tails P(L > m) and Q(L > m) of the positive losses, at thresholds m.
            left: tails P(L < −m) and Q(L < −m) of the negative losses.
            log_atom: lower bound of log P(L = ∞).

        Returns:
            The lines, as rounded logarithms of the tails at all thresholds.
        """
        p, q = right.bounds(p_up=False)
        below_p, below_q = left.bounds(p_up=True)

        # Tails decrease outwards. Those that are rounded up become the largest value farther out, and at most one.
        q, below_p = np.minimum(_largest_from(q), 0.0), np.minimum(_largest_from(below_p), 0.0)
        # Those that are rounded down become the least value farther in, and at most one minus the opposite tail.
        p = np.minimum(np.minimum.accumulate(p), log1m_exp(np.minimum(below_p[0], 0.0)))
        below_q = np.minimum(np.minimum.accumulate(below_q), log1m_exp(np.minimum(q[0], 0.0)))

        # No finite losses are counted above the last threshold.
        p[-1] = -np.inf
        has_only_infinite_loss = p <= log_atom
        q = np.where(has_only_infinite_loss, -np.inf, q)
        is_empty_below = np.isneginf(below_p)
        largest_beyond = np.max(below_q, where=is_empty_below, initial=-np.inf)
        below_q = np.where(is_empty_below, largest_beyond, below_q)
        return cls(right.index, left.index, np.maximum(p, log_atom), q, below_p, below_q, log_atom)

    def without(self, dropped: IntArray) -> TangentLines:
        """Return the lines P(L > m) − α Q(L > m) of this object except those at some thresholds m of the loss L.

        The intervals of losses on both sides of a dropped threshold become one. The outermost threshold on each side of
        zero always remains.

        Args:
            dropped: thresholds to drop, as multiples of the lattice unit. Those of negative losses are negative.

        Returns:
            The lines at the remaining thresholds.
        """
        if not dropped.size:
            return self
        keep_right = ~np.isin(self.right, dropped)
        keep_left = ~np.isin(-self.left, dropped)
        keep_right[-1] = keep_left[-1] = True
        return TangentLines(
            right=self.right[keep_right],
            left=self.left[keep_left],
            p=self.p[keep_right],
            q=self.q[keep_right],
            below_p=self.below_p[keep_left],
            below_q=self.below_q[keep_left],
            log_atom=self.log_atom,
        )

    @cached_property
    def cells(self) -> LoweredCells:
        """The cells between neighbouring thresholds, and the two unbounded ones, by increasing loss.

        The mass of a cell is the difference of the tails at its two thresholds. The middle cell, around zero, has the
        mass that both tails leave. The unbounded cells end at ±`NOWHERE`.
        """
        middle_p, middle_q = _log_rest(self.p, self.below_p), _log_rest(self.q, self.below_q)
        left_p, left_q = _cell_masses(self.below_p, -np.inf)[::-1], _cell_masses(self.below_q, -np.inf)[::-1]
        right_p, right_q = _cell_masses(self.p, self.log_atom), _cell_masses(self.q, -np.inf)
        return LoweredCells(
            low=np.concatenate(([NOWHERE], -self.left[::-1], self.right)),
            high=np.concatenate((-self.left[::-1], self.right, [-NOWHERE])),
            log_p=np.concatenate((left_p, middle_p, right_p)),
            log_q=np.concatenate((left_q, middle_q, right_q)),
        )


def _largest_from(values: FloatArray) -> FloatArray:
    """Return for each position of an array the largest of the values from there to the end."""
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


def _cell_masses(log_tail: FloatArray, log_last: float) -> FloatArray:
    """Return the log mass of each cell, an interval of losses, from the log tail at its inner bound.

    Args:
        log_tail: logarithm of the tail probability at each threshold, from zero outwards.
        log_last: logarithm of the tail probability beyond the last cell.

    Returns:
        The log mass of each cell; −∞ for an empty one.
    """
    return difference(log_tail, np.append(log_tail[1:], log_last))


def _log_rest(log_above: FloatArray, log_below: FloatArray) -> FloatArray:
    """Return the log of the mass between the innermost thresholds, which neither tail contains.

    Args:
        log_above: log tails of the positive losses, from the innermost threshold outwards.
        log_below: log tails of the negative losses, likewise.

    Returns:
        The log mass around zero, as an array of one number.
    """
    return log1m_exp(np.minimum(np.logaddexp(log_above[:1], log_below[:1]), 0.0))
