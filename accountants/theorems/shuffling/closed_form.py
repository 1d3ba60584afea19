"""The closed form of Lowy and Razaviyayn for shuffled reports, at the best (ε₀, δ₀) of their local guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.local_curve import LARGEST_LOCAL_EPSILON, LocalCurve
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray


@dataclass(frozen=True)
class ClosedFormBound(ScaledBound):
    """The closed-form bound on δ of shuffled reports by Theorem F.2 of Lowy and Razaviyayn, for one record per client.

    The theorem gives an ε^r for every δ ≥ 2 e^{−n e^{−ε₀}/16}. The bound at ε is the least such δ with ε^r ≤ ε, plus a
    term for δ₀. With w = e^{ε₀}/n and t = (e^ε − 1)/tanh(ε₀/2) − 8w > 0, it is:

        δ(ε) = max(4 e^{−t²/(64 w)}, 2 e^{−1/(16 w)}) + (1 + e^ε) n (1 + e^{−ε₀}/2) δ₀.

    For t ≤ 0 the first term is 1. The least value over the points (ε₀, δ₀) of the local guarantee is used. The bound is
    never above that of a single report without shuffling.

    Attributes:
        clients: number n of clients.
        local: guarantee of a single report.
    """

    clients: int
    local: LocalCurve

    @property
    def largest_loss(self) -> float:
        """Least known ε from which on δ is zero; math.inf if none is known."""
        return self.local.pure_epsilon

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the bound on log δ(ε) of shuffled reports by the formula of Lowy and Razaviyayn.

        The formula is evaluated at several guarantees (ε₀, δ₀) of a single report, and the least value is used. The δ
        of a single report replaces it where that is lower.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of the result, which differ by its rounding error.
        """
        local_bounds = self.local.pair.log_delta_bounds(epsilon)
        log_bounds = self._log_bounds(min(epsilon, LARGEST_LOCAL_EPSILON))  # one for each (ε₀, δ₀)
        best = float(log_bounds.min())
        slack = 64 * UNIT_ROUNDOFF * (1.0 + abs(best))  # exceeds the rounding error of the logarithm
        upper = min(best + slack, local_bounds.upper, 0.0)
        return Interval(min(best - slack, local_bounds.lower, upper), upper)

    def _log_bounds(self, epsilon: float) -> FloatArray:
        """Compute the log of a bound on δ(ε) of n shuffled reports, for every guarantee (ε₀, δ₀) of a single report.

        With w = e^{ε₀}/n and t = (e^ε − 1)/tanh(ε₀/2) − 8w > 0, the closed form is:

            max(4 e^{−t²/(64 w)}, 2 e^{−1/(16 w)}) + (1 + e^ε) n (1 + e^{−ε₀}/2) δ₀.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            An array of natural logarithms, one for each point. They may exceed 0.
        """
        local, log_delta = self.local.points
        width = np.exp(local) / self.clients  # w = e^{ε₀}/n

        # t = (e^ε − 1)/tanh(ε₀/2) − 8w. At ε₀ = 0 the quotient is undefined, and is set to 0. The local guarantee has
        # δ = 0 then.
        quotient = np.divide(math.expm1(epsilon), np.tanh(0.5 * local), where=local > 0.0, out=np.zeros_like(local))
        largest_root = 1e100  # its square is a double
        excess = np.minimum(np.maximum(quotient - 8.0 * width, 0.0), largest_root)

        # The first term: the larger of the tail and the least δ for which their theorem holds. For t ≤ 0 the theorem
        # has no δ below 1.
        log_tail = math.log(4.0) - excess * excess / (64.0 * width)
        log_least = math.log(2.0) - 1.0 / (16.0 * width)
        main = np.where(excess > 0.0, np.maximum(log_tail, log_least), 0.0)

        # The second term accounts for δ₀.
        log_one_plus_alpha = float(np.logaddexp(0.0, epsilon))
        log_addition = log_delta + math.log(self.clients) + np.log1p(0.5 * np.exp(-local)) + log_one_plus_alpha
        return np.asarray(np.logaddexp(main, log_addition))
