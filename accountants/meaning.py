"""The meaning of (ε, δ) for an attacker who distinguishes two neighbours: advantage, and true positive rates.

True positive rates are given at small false positive rates. The rates of one direction of a pair are those of
`TradeOff`, whose docstring proves both bounds. An attacker may distinguish P from Q better than Q from P, so both
directions count. The upper bounds use the dominating pair, and the lower bounds every pair that neighbours attain.
For N(μ, 1) against N(0, 1) the best test is a threshold. Its rate at the false positive rate α is Φ(Φ⁻¹(α) + μ) in both
directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scipy.special import ndtr, ndtri

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.trade_off import GOOD_GAP, TradeOff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair

FALSE_POSITIVE_RATES = (1e-2, 1e-3, 1e-5)
"""False positive rates at which true positive rates are given."""
_SEARCH_ORDER = (1e-3, 1e-2, 1e-5)
"""The false positive rates in the order of the search. The first serves as the start for the rest."""
_ROUGH = 1e-3
"""Relative width of a rate above which the lower bound of the second direction may be the larger one."""
_ROUNDING = 1e-12
"""Relative rounding of Φ(Φ⁻¹(α) + μ) and of the normal density: a few units for the function, and |x| + 1 for each unit
in its argument x."""
_NORMAL = 1e-300
"""Number above which this relative rounding holds, as doubles near the smallest one have fewer digits."""


@dataclass(frozen=True)
class TruePositives:
    """The true positive rate of the best attack at a false positive rate."""

    false_positive_rate: float
    true_positive_rate: Interval


@dataclass(frozen=True)
class Meaning:
    """The success of the best attack on a mechanism.

    Attributes:
        advantage: bounds on the largest difference between true and false positive rates.
        true_positives: largest true positive rates at some small false positive rates.
    """

    advantage: Interval
    true_positives: tuple[TruePositives, ...]


def meaning(curve: Curve) -> Meaning:
    """Return the advantage and the true positive rates of the best attack on a mechanism, over all neighbours.

    Upper bounds are those of the dominating pair, and lower bounds those of the witnesses, the pairs that neighbours
    attain. A witness is evaluated only until it is shown to be no better than the bound already attained. No rates are
    evaluated if neighbours can be distinguished with certainty, or nearly.

    Args:
        curve: the privacy curve of the mechanism.
    """
    aims: dict[float, float] = {}  # log γ of the best test so far, for each false positive rate
    upper = _Attacks(curve.upper, aims, lower=curve.tight)
    witnesses = [upper if pair is curve.upper else _Attacks(pair, aims) for pair in curve.witnesses]
    most = upper.advantage.upper
    least = 0.0
    for witness in witnesses:
        least = max(least, witness.advantage_above(least))
        # The test that maximises the advantage E_1, the difference of its true and false positive rate, has a false
        # positive rate of at most 1 − E_1 and a true one of at least E_1. For E_1 near 1 it bounds all rates.
        is_certain = not curve.tight and 1.0 - least <= min(GOOD_GAP, *FALSE_POSITIVE_RATES)
        if is_certain:
            rates = {rate: Interval(least, 1.0) for rate in FALSE_POSITIVE_RATES}
            break
    else:
        rates = _true_positive_rates(upper, [witness for witness in witnesses if witness is not upper])
    true_positives = (TruePositives(rate, Interval(min(low, high), high)) for rate, (low, high) in rates.items())
    return Meaning(Interval(min(least, most), most), tuple(true_positives))


def _true_positive_rates(upper: _Attacks, witnesses: Sequence[_Attacks]) -> dict[float, Interval]:
    """Enclose the largest true positive rate at each of `FALSE_POSITIVE_RATES`. Guessing attains the rate itself.

    Args:
        upper: attacks on the dominating pair, two distributions that are at least as distinguishable as any neighbours.
        witnesses: attacks on other pairs, which neighbours attain.

    Returns:
        The bounds on the true positive rate, by false positive rate.
    """
    bounds = upper.true_positives({rate: rate for rate in FALSE_POSITIVE_RATES})
    attained = {rate: bound.lower for rate, bound in bounds.items()}
    for witness in witnesses:
        open_rates = {rate: value for rate, value in attained.items() if value < bounds[rate].upper}
        for rate, interval in witness.true_positives(open_rates).items():
            attained[rate] = max(attained[rate], interval.lower)
    return {rate: Interval(attained[rate], bound.upper) for rate, bound in bounds.items()}


@dataclass(frozen=True, eq=False)
class _Attacks:
    """Searches for the best attacks that distinguish the two distributions of a pair, in both directions.

    Attributes:
        pair: the pair of distributions.
        aims: log γ of the best test on any pair so far, for each false positive rate. A bound there often shows at once
            that this pair has no better test. Searches add to it.
        lower: whether lower bounds are needed.
    """

    pair: Pair
    aims: dict[float, float]
    lower: bool = True

    @cached_property
    def _directions(self) -> tuple[TradeOff, ...]:
        """The trade-off of P against Q, and that of Q against P if the pair is not symmetric."""
        forward, backward = self.pair.forward, self.pair.backward
        first = TradeOff.of(forward, backward, _SEARCH_ORDER, lower=self.lower, aims=self.aims)
        if self.pair.symmetric:
            return (first,)
        return first, TradeOff.of(backward, forward, _SEARCH_ORDER, lower=self.lower, aims=self.aims)

    @cached_property
    def advantage(self) -> Interval:
        """Enclosure of E_1, the total variation distance, which is equal in both directions.

        The second direction is evaluated only if the bounds of the first are not close and evaluations are not
        expensive.
        """
        is_expensive = self._directions[0].read_nearby()
        lower, upper = self._directions[0].advantage
        for direction in self._directions[1:]:
            if not is_expensive and upper - lower > GOOD_GAP * upper:
                lower, upper = max(lower, direction.advantage.lower), min(upper, direction.advantage.upper)
            direction.evaluated.setdefault(0.0, Interval(lower, upper))
        return Interval(min(lower, upper), min(upper, 1.0))

    def advantage_above(self, floor: float) -> float:
        """Return a lower bound on the total variation distance, or `floor` if the distance is shown to be no larger."""
        if floor > 0.0 and self._directions[0].advantage_within(floor):
            return floor
        return self.advantage.lower

    def true_positives(self, floors: Mapping[float, float]) -> dict[float, Interval]:
        """Enclose the largest true positive rate of both directions at several false positive rates.

        If no lower bounds are needed, the false positive rate itself is the lower bound.

        Args:
            floors: for each false positive rate, a true positive rate that is already attained. The search may end once
                this pair is shown not to exceed it.
        """
        if self.pair.gaussian_dp_mu is not None:
            exact = {rate: gaussian_true_positives(rate, self.pair.gaussian_dp_mu) for rate in floors}
            return exact if self.lower else {rate: Interval(rate, bound.upper) for rate, bound in exact.items()}
        rates = {rate: Interval(rate, rate) for rate in floors}
        for direction in self._directions:
            for rate, (least, most) in rates.items():
                # If the first direction is known closely, the second one counts only beyond its upper bound.
                is_close_enough = most - least <= _ROUGH * most or not self.lower
                attained = most if is_close_enough else least
                interval = direction.true_positives(rate, floor=max(floors[rate], attained), attained=least)
                rates[rate] = Interval(max(least, interval.lower), max(most, interval.upper))
        return {rate: Interval(min(least, most), most) for rate, (least, most) in rates.items()}


def gaussian_true_positives(rate: float, mu: float) -> Interval:
    """Enclose the largest true positive rate Φ(Φ⁻¹(α) + μ) for N(μ, 1) against N(0, 1) at the false positive rate α.

    The closest of three kinds of bounds are returned: with a small relative error in the rate, with one in 1 minus the
    rate, and on the rate less α. This difference is μ times a value of the normal density between x = Φ⁻¹(α) and x + μ.

    Args:
        rate: the false positive rate α, in (0, 1).
        mu: distance μ of the means in standard deviations.

    Returns:
        The bounds. The lower one is at least α, and the upper one at most 1.
    """
    start = float(ndtri(rate))
    exact, missed = float(ndtr(start + mu)), float(ndtr(-start - mu))
    lowers, uppers = [rate], [max(exact, _NORMAL) * (1.0 + _ROUNDING), 1.0]
    lowers.append(math.nextafter(1.0 - max(missed, _NORMAL) * (1.0 + _ROUNDING), 0.0))
    if exact > _NORMAL:
        lowers.append(exact * (1.0 - _ROUNDING))
    if missed > _NORMAL:
        uppers.append(math.nextafter(1.0 - missed * (1.0 - _ROUNDING), 1.0))
    at_ends = [math.exp(-0.5 * end * end) / math.sqrt(2.0 * math.pi) for end in (start, start + mu)]
    if min(at_ends) > _NORMAL:
        largest = 1.0 / math.sqrt(2.0 * math.pi) if start < 0.0 < start + mu else max(at_ends)
        lowers.append(math.nextafter(rate + mu * min(at_ends) * (1.0 - _ROUNDING), 0.0))
        uppers.append(math.nextafter(rate + mu * largest * (1.0 + _ROUNDING), 1.0))
    return Interval(max(lowers), min(uppers))
