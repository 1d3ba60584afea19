"""The curve of a mechanism: a pair that dominates it, and pairs that it realises on some neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from epsilond.accountants.target import Target

SPARE = 1e-6
"""Share of log δ by which a target may be exceeded and ε still be the target's: both are known no better."""
FLAT = 1e-3
"""Share of ε that must tell where the target's ε is given without a search."""


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

    def epsilon_of_target(self, target: Target) -> Interval:
        """Enclose ε at the target δ with few evaluations: searches without a start of their own begin at the target.

        Guarantees: both bounds have been evaluated, and each is on its side of the truth.
        """
        if self.tight:
            lower, upper = self.upper.epsilon(target.log_delta, target.epsilon)
        else:  # nobody reads the lower bound of a bound that no neighbours attain
            lower, upper = 0.0, _upper_epsilon_of(self.upper, target)
        if upper > 0.0:
            lower = max(
                lower, _largest_realised_epsilon([pair for pair in self.witnesses if pair is not self.upper], target)
            )
        return Interval(min(lower, upper), upper)

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


def _largest_realised_epsilon(witnesses: Iterable[Pair], target: Target) -> float:
    """The largest lower bound of the witnesses; one that is likely to attain no more than one before is not searched.

    It is taken to attain no more where its log δ at the target ε falls short of the target twice as far as that of the
    one before. A witness that is left out may cost some of the lower bound, never its truth.
    """
    found, attained = 0.0, -math.inf
    for pair in witnesses:
        if found > 0.0 and _falls_short(pair, target, attained, found):
            continue
        found = max(found, pair.lower_epsilon(target.log_delta, target.epsilon))
        attained = max(attained, pair.lower_log_delta(target.epsilon))
    return found


def _falls_short(pair: Pair, target: Target, attained: float, found: float) -> bool:
    """Whether a witness is seen to attain no more than one of the log δ and ε given, as above."""
    if pair.likely_meets(found, target.log_delta):
        return True
    least = target.log_delta - 2.0 * (target.log_delta - attained)
    return attained < target.log_delta and (
        pair.likely_meets(target.epsilon, least) or pair.lower_log_delta(target.epsilon) <= least
    )


def _upper_epsilon_of(pair: Pair, target: Target) -> float:
    """The upper bound alone: the target ε where that meets the target δ by next to nothing, as calibrated noise does.

    A little less must miss it: where δ hardly falls with ε, a much smaller ε may meet it too, and is searched.
    """
    near = target.log_delta * (1.0 + SPARE) <= pair.upper_log_delta(target.epsilon) <= target.log_delta
    if near and pair.upper_log_delta_next_to(target.epsilon * (1.0 - FLAT), target.epsilon) > target.log_delta:
        return target.epsilon
    return pair.upper_epsilon(target.log_delta, target.epsilon)
