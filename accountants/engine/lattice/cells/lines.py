"""Lines below a profile, P(L > m) − α Q(L > m) at thresholds m, and the cells of loss between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.lattice.cells.discretise import BoolArray, SideTails, difference
from epsilond.accountants.engine.lattice.tilted import IntArray
from epsilond.accountants.numerics.special import log1m_exp

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

NOWHERE = -(2**60)
"""An index far below any loss."""


@dataclass(frozen=True)
class Cells:
    """Cells in increasing order of loss, from (−∞, −b_n) to (b_n, ∞), with the masses that the lowered lines give."""

    low: IntArray
    high: IntArray
    log_p: FloatArray
    log_q: FloatArray

    @cached_property
    def held(self) -> BoolArray:
        """Cells with mass under both laws."""
        return np.isfinite(self.log_p) & np.isfinite(self.log_q)

    @cached_property
    def own(self) -> FloatArray:
        """log p/q, −∞ for cells without first-law mass."""
        with np.errstate(invalid="ignore"):
            own = self.log_p - self.log_q
        return np.where(np.isnan(own), -np.inf, own)


@dataclass(frozen=True)
class Lines:
    """Thresholds and lowered lines: P down and Q up on the right, and so, of the masses below, P up and Q down."""

    right: IntArray
    left: IntArray
    p: FloatArray
    q: FloatArray
    below_p: FloatArray
    below_q: FloatArray
    log_atom: float

    @classmethod
    def of(cls, right: SideTails, left: SideTails, log_atom: float) -> Lines:
        """Lines at the given thresholds, made monotone by lowering."""
        p, q = right.bounds(p_up=False)
        below_p, below_q = left.bounds(p_up=True)
        # Raised by a large error, a mass may come out above one, which it cannot be.
        q = np.minimum(np.maximum.accumulate(q[::-1])[::-1], 0.0)
        below_p = np.minimum(np.maximum.accumulate(below_p[::-1])[::-1], 0.0)
        # Neither law has more than one in all.
        p = np.minimum(np.minimum.accumulate(p), log1m_exp(np.minimum(below_p[0], 0.0)))
        below_q = np.minimum(np.minimum.accumulate(below_q), log1m_exp(np.minimum(q[0], 0.0)))
        # Where one law has nothing left beyond a threshold, one line is the best of all from there on. The last line is
        # that one in any case: what lies beyond it counts with the last cell.
        p[-1] = -np.inf
        q = np.where(p <= log_atom, -np.inf, q)
        below_q = np.where(np.isneginf(below_p), np.max(below_q, where=np.isneginf(below_p), initial=-np.inf), below_q)
        return cls(right.index, left.index, np.maximum(p, log_atom), q, below_p, below_q, log_atom)

    def without(self, dropped: IntArray) -> Lines:
        """Fewer thresholds; at least one stays on each side."""
        if not dropped.size:
            return self
        right, left = ~np.isin(self.right, dropped), ~np.isin(-self.left, dropped)
        right[-1] = left[-1] = True
        return Lines(
            self.right[right],
            self.left[left],
            self.p[right],
            self.q[right],
            self.below_p[left],
            self.below_q[left],
            self.log_atom,
        )

    @cached_property
    def cells(self) -> Cells:
        """The cells between thresholds."""
        middle_p, middle_q = (
            log1m_exp(np.minimum(np.logaddexp(above[:1], below[:1]), 0.0))
            for above, below in ((self.p, self.below_p), (self.q, self.below_q))
        )
        nothing = [-np.inf]
        return Cells(
            np.concatenate(([NOWHERE], -self.left[::-1], self.right)),
            np.concatenate((-self.left[::-1], self.right, [-NOWHERE])),
            np.concatenate(
                (
                    difference(self.below_p, np.append(self.below_p[1:], nothing))[::-1],
                    middle_p,
                    difference(self.p, np.append(self.p[1:], self.log_atom)),
                )
            ),
            np.concatenate(
                (
                    difference(self.below_q, np.append(self.below_q[1:], nothing))[::-1],
                    middle_q,
                    difference(self.q, np.append(self.q[1:], nothing)),
                )
            ),
        )
