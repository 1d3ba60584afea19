"""T steps with a loss that is a function of Gaussian noise, with improbable noise left out (certificate, A2 and A8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.engine.contour.piece import Piece
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
    from epsilond.accountants.numerics.special import FloatArray

FARTHEST_END = 60.0
"""Largest end of the noise, in standard deviations. The normal tail beyond, about e^−1800, is below every δ."""


@dataclass(frozen=True)
class TruncatedSteps:
    """T independent subsampled Gaussian steps, with the improbable ends of their noise left out.

    The steps are Poisson-subsampled in one direction, or batches of a fixed size without replacement. For a batch, the
    loss is that of the directions "remove" and "add" on the noise x ≥ s/2. It is 0 with probability (1 − q) erf(s/√8)
    (docs/engine-certificate.md, A8).

    Attributes:
        ratio: likelihood ratio with the rate q and the shift s.
        kind: direction of the pair, or "drawn" for a batch without replacement.
        count: number T of steps.
        low: lower end of the noise in standard deviations; noise below it is left out. A batch does not use it.
        high: upper end of the noise; for a batch, the end minus s/2.
    """

    ratio: LikelihoodRatio
    kind: Direction | Literal["drawn"]
    count: int
    low: float = -FARTHEST_END
    high: float = FARTHEST_END

    @property
    def pieces(self) -> list[Piece]:
        """Intervals of the noise with their integrands: one, or one for each direction of a batch."""
        if self.kind != "drawn":
            return [Piece(self.ratio, self.kind, self.low, self.high)]
        low = 0.5 * self.ratio.shift
        high = low + self.high
        return [Piece(self.ratio, "remove", low, high), Piece(self.ratio, "add", low, high)]

    @property
    def atom(self) -> float:
        """Probability (1 − q) erf(s/√8) of the loss 0 of a batch, within 16 units of roundoff; otherwise 0."""
        if self.kind != "drawn":
            return 0.0
        return (1.0 - self.ratio.rate) * math.erf(self.ratio.shift / math.sqrt(8.0))

    @property
    def supremum(self) -> float:
        """Largest total loss −T log(1 − q) in the direction "add", rounded up; otherwise the loss is unbounded."""
        largest = -math.log1p(-self.ratio.rate) if self.kind == "add" else math.inf
        return self.count * largest * (1.0 + 8 * UNIT_ROUNDOFF)

    @property
    def largest_loss(self) -> float:
        """T times the largest loss of the noise that is not left out, in nats.

        The loss is monotone on each piece of the noise, so it is largest at an end of a piece.
        """
        losses_at_ends = []
        for piece in self.pieces:
            _, _, losses, _ = piece.losses(np.asarray([piece.low, piece.high]))
            losses_at_ends.append(losses)
        return self.count * float(np.max(losses_at_ends))

    def log_outside(self, distances: FloatArray, side: int) -> FloatArray:
        """Return upper bounds on the log probability, under the first distribution P, that the noise is beyond an end.

        Args:
            distances: possible ends, as values of `high` for the side 1, or of −`low` for the side −1.
            side: 1 for the noise above an end, −1 for the noise below it.

        Returns:
            One upper bound for each end. It is −inf below a batch's noise, where nothing is left out.
        """
        if self.kind == "drawn" and side < 0:
            return np.full_like(distances, -np.inf)
        log_tail = self._log_tail(distances, side)
        # The error of `log_ndtr` is far smaller than 1e-12.
        return np.asarray(log_tail + 1e-12 * (1.0 + np.abs(log_tail)))

    def _log_tail(self, distances: FloatArray, side: int) -> FloatArray:
        """Return upper bounds on the log probability, under the first distribution, of a tail of one step's noise.

        Let q be the rate, s the shift, Φ the normal distribution function and d the distance. The bound is

        - for a batch, (2 − q) Φ(−x) + q Φ(s − x) at x = s/2 + d, the sum of the tails of both directions;
        - in the direction "add", and below the lower end, Φ(−d);
        - otherwise, (1 − q) Φ(−d) + q Φ(s − d).

        Args:
            distances: d, in standard deviations of the noise.
            side: 1 for the upper tail, −1 for the lower one.

        Returns:
            The logarithm of the bound at each distance.
        """
        rate, shift = self.ratio.rate, self.ratio.shift
        if self.kind == "drawn":
            log_centred = math.log1p(1.0 - rate) + log_ndtr(-distances - 0.5 * shift)
            log_shifted = math.log(rate) + log_ndtr(0.5 * shift - distances)
            return np.logaddexp(log_centred, log_shifted)
        # The first distribution is N(0, 1), or its tail is at most that of N(0, 1).
        if self.kind == "add" or side < 0:
            return np.asarray(log_ndtr(-distances))
        # The first distribution is the mixture of N(0, 1) and N(s, 1).
        log_excluded = math.log1p(-rate) + log_ndtr(-distances)
        log_included = math.log(rate) + log_ndtr(shift - distances)
        return np.logaddexp(log_excluded, log_included)

    @property
    def log_leak(self) -> float:
        """Upper bound on log(T p), for the probability p under P of the noise that is left out in one step.

        P is the first distribution of the pair, and T the number of steps.
        """
        log_below = self.log_outside(np.asarray(-self.low), -1)
        log_above = self.log_outside(np.asarray(self.high), 1)
        rounding = 1e-12  # far larger than the errors of the logarithms
        return math.log(self.count) + float(np.logaddexp(log_below, log_above)) + rounding
