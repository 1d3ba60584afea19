"""Privacy curves: a pair that dominates a mechanism, and pairs that the mechanism attains on some neighbours."""

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
"""Relative excess of log δ over the target that is ignored. The target and the bound are known no more exactly."""
_SEARCHED_ZERO = 1e-9
"""Upper bound on ε below which δ(0) is compared with the target, because a search does not end at exactly 0."""
FLAT = 1e-3
"""Relative decrease of ε that must raise δ above the target before the target's ε is returned without a search."""


@dataclass(frozen=True)
class Curve:
    """Bounds on a mechanism's privacy curve: ε ↦ [lower, upper] of log δ(ε), ε ≥ 0.

    Without witnesses the lower bound is δ = 0. The curve is tight if a witness is the object `upper` itself.

    Attributes:
        upper: pair of distributions that dominates the outputs on all neighbours, that is, its δ is an upper bound.
        witnesses: pairs that the mechanism attains on some neighbours, which give lower bounds.
        pointwise: whether other neighbours attain the pair `upper` at each ε. Its δ, trade-offs and Bayes errors are
            then those of the mechanism. Its Rényi divergences depend on all ε at once, and are only upper bounds.
    """

    upper: Pair
    witnesses: tuple[Pair, ...] = ()
    pointwise: bool = False

    @property
    def tight(self) -> bool:
        """True if the mechanism attains the dominating pair. Then both bounds differ only by numerical error."""
        return any(witness is self.upper for witness in self.witnesses)

    def log_delta(self, epsilon: float) -> Interval:
        """Enclose log δ of the mechanism at one ε.

        The upper bound is that of the dominating pair: two distributions with a δ that is at least that of the
        mechanism. The lower bound is the largest one of the pairs that the mechanism attains, called witnesses.

        Args:
            epsilon: ε ≥ 0, in nats.

        Returns:
            The bounds. The lower one is −∞ if no witness is known.
        """
        if self.tight:
            lower, upper = self.upper.log_delta_bounds(epsilon)
        else:
            lower, upper = -math.inf, self.upper.upper_log_delta(epsilon)
        for pair in self._other_witnesses():
            # Do not evaluate a witness that is unlikely to raise the lower bound.
            is_likely_smaller = lower > -math.inf and pair.likely_meets(epsilon, lower)
            if not is_likely_smaller:
                lower = max(lower, pair.lower_log_delta(epsilon))
        return Interval(lower, upper)

    @property
    def single_witnesses(self) -> tuple[Pair, ...]:
        """Pairs that the same two neighbours attain at every ε."""
        return tuple(self._other_witnesses()) if self.pointwise else self.witnesses

    def _other_witnesses(self) -> list[Pair]:
        """Return the witnesses except the dominating pair itself."""
        return [pair for pair in self.witnesses if pair is not self.upper]

    def bound_log_delta(self, epsilon: float) -> Interval:
        """Return bounds on log δ(ε) of the dominating pair, which differ by the numerical error only."""
        return self.upper.log_delta_bounds(epsilon)

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the upper bound on log δ(ε), without the work for a lower bound."""
        return self.upper.upper_log_delta(epsilon)

    def estimate(self, epsilon: float) -> float | None:
        """Return an uncertified estimate of the upper bound on log δ(ε); None if the bound itself costs little."""
        forward = self.upper.forward
        return forward.likely_log_delta(epsilon) if forward.estimated else None

    def epsilon(self, log_delta: float) -> Interval:
        """Enclose the smallest ε ≥ 0 with log δ(ε) at most a target.

        The upper bound is that of the dominating pair, and the lower bound the largest one of the attained pairs.

        Args:
            log_delta: the target log δ, natural logarithm.

        Returns:
            Lower and upper bounds on ε in nats. A bound is math.inf if no such ε is known.

        Raises:
            ContradictoryBounds: a pair that the mechanism attains (witness) exceeds the upper bound, a fault of this
                library.
        """
        # A dominating pair that the mechanism does not attain gives no lower bound.
        if self.tight:
            lower, upper = self.upper.epsilon(log_delta)
        else:
            lower, upper = 0.0, self.upper.upper_epsilon(log_delta)
        upper = self._zero_if_enough(upper, log_delta)
        lower = self._attained_epsilon(log_delta, lower) if upper > 0.0 else 0.0
        return Interval.of(lower=lower, upper=upper, name="ε at the requested δ")

    def epsilon_of_target(self, target: Target) -> Interval:
        """Enclose the smallest ε with δ(ε) at most the target δ, with few evaluations.

        Unless the curve is tight, the upper bound is the target ε itself if that is close enough.

        Args:
            target: the target (ε, δ). A search without another initial estimate starts at its ε.

        Returns:
            Lower and upper bound on ε in nats; the upper one is math.inf if no such ε is known.

        Raises:
            ContradictoryBounds: a witness, a pair that the mechanism attains, exceeds the upper bound, which is a fault
                of this library.

        Guarantees: both bounds have been evaluated, and each is on its side of the true ε.
        """
        if self.tight:
            lower, upper = self.upper.epsilon(target.log_delta, target.epsilon)
        else:  # a lower bound on ε of the dominating pair says nothing about the mechanism
            lower, upper = 0.0, _upper_epsilon_of(self.upper, target)
        upper = self._zero_if_enough(upper, target.log_delta)
        if upper > 0.0:
            lower = max(lower, _largest_attained_epsilon(self._other_witnesses(), target))
        return Interval.of(lower=lower, upper=upper, name="ε at the requested δ")

    def _zero_if_enough(self, upper: float, log_delta: float) -> float:
        """Return 0 in place of a tiny upper bound on ε, if δ(0) meets the target already.

        Args:
            upper: the upper bound, in nats.
            log_delta: log δ of the target.

        Returns:
            0 if δ(0) meets the target and the bound is tiny; otherwise the given upper bound, in nats.
        """
        is_nearly_zero = 0.0 < upper < _SEARCHED_ZERO
        if is_nearly_zero and self.log_delta(0.0).upper <= log_delta:
            return 0.0
        return upper

    def _attained_epsilon(self, log_delta: float, least: float) -> float:
        """Return the largest lower bound on ε at a target δ that the witnesses give.

        A witness is a pair of distributions that the mechanism attains. It is skipped if it is likely to meet the
        target at the best lower bound so far. Its own bound would then be no larger.

        Args:
            log_delta: the target, log δ.
            least: a lower bound on ε that is known already.

        Returns:
            A lower bound on ε in nats, at least `least`.
        """
        for pair in self._other_witnesses():
            is_likely_smaller = least > 0.0 and pair.likely_meets(least, log_delta)
            if not is_likely_smaller:
                least = max(least, pair.lower_epsilon(log_delta))
        return least

    def bound_epsilon(self, log_delta: float) -> Interval:
        """Return bounds on the ε of the dominating pair at a target log δ, which differ by the numerical error only."""
        return self.upper.epsilon(log_delta)


def _largest_attained_epsilon(witnesses: Iterable[Pair], target: Target) -> float:
    """Return the largest lower bound of the witnesses on ε at the target δ.

    A witness is a pair of distributions that the mechanism attains for some data. It is skipped if the bound of the
    earlier witnesses is above 0 and `_falls_short` holds. Skipping may lower the bound, but never makes it invalid.

    Args:
        witnesses: the witnesses.
        target: the target (ε, δ).

    Returns:
        The lower bound in nats; 0 without a witness.
    """
    largest, attained = 0.0, -math.inf
    for pair in witnesses:
        if largest > 0.0 and _falls_short(pair, target, attained, largest):
            continue
        largest = max(largest, pair.lower_epsilon(target.log_delta, target.epsilon))
        attained = max(attained, pair.lower_log_delta(target.epsilon))
    return largest


def _falls_short(pair: Pair, target: Target, attained_log_delta: float, attained_epsilon: float) -> bool:
    """Return whether a witness is unlikely to raise the lower bound on ε at the target δ.

    There are two such cases. First, its δ at the best lower bound on ε so far is likely to be at most the target δ.
    Second, its log δ at the target ε is below the target by at least twice as much as that of the best earlier witness.

    Args:
        pair: the witness, a pair of distributions that the mechanism attains.
        target: the target (ε, δ).
        attained_log_delta: largest log δ at the target ε of the earlier witnesses.
        attained_epsilon: largest lower bound on ε of the earlier witnesses, in nats.

    Returns:
        True if the witness may be skipped.
    """
    if pair.likely_meets(attained_epsilon, target.log_delta):
        return True
    if not attained_log_delta < target.log_delta:
        return False
    shortfall = target.log_delta - attained_log_delta  # of the best earlier witness, in log δ
    too_small = target.log_delta - 2.0 * shortfall
    return pair.likely_meets(target.epsilon, too_small) or pair.lower_log_delta(target.epsilon) <= too_small


def _upper_epsilon_of(pair: Pair, target: Target) -> float:
    """Return an upper bound on the smallest ε with δ(ε) at most the target δ.

    The target ε is returned without a search if it is close to this smallest ε, as for calibrated noise. There are two
    conditions. First, at the target ε the upper bound on log δ is at most the target, and at most a relative `SPARE`
    below it. Second, at ε(1 − `FLAT`) it is above the target. Otherwise δ may decrease so slowly that a much smaller ε
    meets the target.

    Args:
        pair: the dominating pair.
        target: the target (ε, δ). A search starts at its ε.

    Returns:
        The upper bound in nats; math.inf if none is known.
    """
    log_delta = pair.upper_log_delta(target.epsilon)
    slightly_below = target.log_delta * (1.0 + SPARE) <= log_delta <= target.log_delta
    if slightly_below:
        smaller_epsilon = target.epsilon * (1.0 - FLAT)
        if pair.upper_log_delta_next_to(smaller_epsilon, target.epsilon) > target.log_delta:
            return target.epsilon
    return pair.upper_epsilon(target.log_delta, target.epsilon)
