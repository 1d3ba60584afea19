"""The curve of a mechanism: a pair that dominates it, and pairs that it realises on some neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair


@dataclass(frozen=True)
class Curve:
    """What is known of a mechanism's privacy: ε ↦ [lower, upper] of log δ(ε), ε ≥ 0.

    `upper` dominates every neighbouring pair of outputs. Each of `witnesses` is realised by some neighbours, and
    with none the lower bound is δ = 0. `tight` compares by identity: the dominating pair is itself realised.
    """

    upper: Pair
    witnesses: tuple[Pair, ...] = ()

    @property
    def tight(self) -> bool:
        """Whether the dominating pair is realised, so that both ends differ by numerical error only."""
        return any(witness is self.upper for witness in self.witnesses)

    def log_delta(self, epsilon: float) -> Interval:
        """Enclosure of log δ at one ε ≥ 0: what is known of the mechanism."""
        least, upper = (
            self.upper.log_delta_bounds(epsilon) if self.tight else (-math.inf, self.upper.upper_log_delta(epsilon))
        )
        for pair in self.witnesses:
            # A witness that is likely to attain no more than one before is not evaluated.
            if pair is not self.upper and not (least > -math.inf and pair.likely_meets(epsilon, least)):
                least = max(least, pair.lower_log_delta(epsilon))
        return Interval(least, upper)

    def bound_log_delta(self, epsilon: float) -> Interval:
        """Numerical enclosure of the upper bound itself: how exactly the bound was computed."""
        return self.upper.log_delta_bounds(epsilon)

    def upper_log_delta(self, epsilon: float) -> float:
        """The upper bound of `bound_log_delta` alone, for a search that reads no other."""
        return self.upper.upper_log_delta(epsilon)

    def estimate(self, epsilon: float) -> float | None:
        """Return an uncertified estimate of the upper bound on log δ(ε); None where the bound itself costs little."""
        forward = self.upper.forward
        return forward.likely_log_delta(epsilon) if forward.estimated else None

    def epsilon(self, log_delta: float) -> Interval:
        """Enclosure of the smallest ε ≥ 0 with log δ(ε) ≤ `log_delta`; math.inf where there is none."""
        if not self.tight:
            upper = self.upper.upper_epsilon(log_delta)
            return Interval(min(self._realised_epsilon(log_delta, 0.0), upper) if upper > 0.0 else 0.0, upper)
        bound = self.upper.epsilon(log_delta)
        lower = self._realised_epsilon(log_delta, bound.lower) if bound.upper > 0.0 else 0.0
        return Interval(min(lower, bound.upper), bound.upper)

    def _realised_epsilon(self, log_delta: float, least: float) -> float:
        """The largest lower bound of the witnesses' ε(δ), `least` if none is above it.

        One that is likely to meet the target at a lower bound in hand is not searched: its own would be no larger.
        """
        for pair in self.witnesses:
            if pair is not self.upper and not (least > 0.0 and pair.likely_meets(least, log_delta)):
                least = max(least, pair.lower_epsilon(log_delta))
        return least

    def bound_epsilon(self, log_delta: float) -> Interval:
        """Numerical enclosure of the bound's own ε(δ)."""
        return self.upper.epsilon(log_delta)
