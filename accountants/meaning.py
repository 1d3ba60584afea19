"""The meaning of (ε, δ) for an attacker who distinguishes two neighbours: advantage, and true positive rates.

True positive rates are given at small false positive rates. The rates of one direction of a pair are those of
`TradeOff`. Its docstring proves both bounds. An attacker may distinguish P from Q better than Q from P, so both
directions count. The upper bounds use the dominating pair, and the lower bounds every pair that neighbours attain. For
N(μ, 1) against N(0, 1) the best test is a threshold. Its rate at the false positive rate α is Φ(Φ⁻¹(α) + μ) in both
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
    """The true positive rate of the best attack that has a given false positive rate.

    An attack decides from the output whether the first or the second of two neighbouring data sets was used.

    Attributes:
        false_positive_rate: probability α in (0, 1) that the attack decides for the first one if the second was used.
        true_positive_rate: bounds on the largest probability that it decides for the first one if the first was used.
    """

    false_positive_rate: float
    true_positive_rate: Interval


@dataclass(frozen=True)
class Meaning:
    """The success of the best attack on a mechanism, over all pairs of neighbours.

    An attack decides from the output which of two neighbouring data sets was used.

    Attributes:
        advantage: bounds on the largest difference between true and false positive rates.
        true_positives: largest true positive rates at some small false positive rates.
    """

    advantage: Interval
    true_positives: tuple[TruePositives, ...]


def meaning(curve: Curve) -> Meaning:
    """Return the advantage and the true positive rates of the best attack on a mechanism, over all neighbours.

    Upper bounds are those of the dominating pair, two distributions that are at least as distinguishable as any
    neighbours. Lower bounds are those of the witnesses, the pairs that neighbours attain. A witness is evaluated only
    until it is shown to be no better than the bound already attained. If a witness has an advantage near 1, this is the
    lower bound on all true positive rates, and their upper bound is 1.

    Args:
        curve: the privacy curve of the mechanism.

    Returns:
        Bounds on the advantage, and on the true positive rate at each of `FALSE_POSITIVE_RATES`.
    """
    best_tests: dict[float, float] = {}  # log γ of the best test so far, for each false positive rate
    upper = _Attacks(curve.upper, best_tests, lower=curve.tight)
    witnesses = [upper if pair is curve.upper else _Attacks(pair, best_tests) for pair in curve.witnesses]

    most = upper.advantage.upper
    least = 0.0
    rates: dict[float, Interval] | None = None
    for witness in witnesses:
        least = max(least, witness.advantage_above(least))
        # The test with the advantage E, the difference of its true and false positive rate, has a false positive rate
        # of at most 1 − E and a true one of at least E. For 1 − E ≤ α, E is thus a lower bound at the rate α.
        is_certain = not curve.tight and 1.0 - least <= min(GOOD_GAP, *FALSE_POSITIVE_RATES)
        if is_certain:
            rates = {rate: Interval(least, 1.0) for rate in FALSE_POSITIVE_RATES}
            break

    if rates is None:
        rates = _true_positive_rates(upper, [witness for witness in witnesses if witness is not upper])
    true_positives = [
        TruePositives(rate, Interval(min(bounds.lower, bounds.upper), bounds.upper)) for rate, bounds in rates.items()
    ]
    return Meaning(Interval(min(least, most), most), tuple(true_positives))


def _true_positive_rates(upper: _Attacks, witnesses: Sequence[_Attacks]) -> dict[float, Interval]:
    """Enclose the largest true positive rate at each of `FALSE_POSITIVE_RATES`, over all neighbours.

    Each lower bound is the largest one of all attained pairs, and at least the false positive rate, which a guess
    attains.

    Args:
        upper: attacks on the dominating pair, two distributions that are at least as distinguishable as any neighbours.
        witnesses: attacks on pairs that neighbours attain, except for the dominating pair.

    Returns:
        The bounds on the true positive rate, by false positive rate.
    """
    bounds = upper.true_positives({rate: rate for rate in FALSE_POSITIVE_RATES})
    attained = {rate: bound.lower for rate, bound in bounds.items()}
    for witness in witnesses:
        # A rate is settled once its lower bound reaches its upper bound.
        open_rates = {rate: value for rate, value in attained.items() if value < bounds[rate].upper}
        for rate, interval in witness.true_positives(open_rates).items():
            attained[rate] = max(attained[rate], interval.lower)
    return {rate: Interval(attained[rate], bound.upper) for rate, bound in bounds.items()}


@dataclass(frozen=True, eq=False)
class _Attacks:
    """Searches for the best attacks that distinguish the two distributions of a pair, in both directions.

    A test of P against Q accuses where the likelihood ratio exceeds a threshold γ.

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
        p_against_q = TradeOff.of(forward, backward, _SEARCH_ORDER, lower=self.lower, aims=self.aims)
        if self.pair.symmetric:
            return (p_against_q,)
        q_against_p = TradeOff.of(backward, forward, _SEARCH_ORDER, lower=self.lower, aims=self.aims)
        return p_against_q, q_against_p

    @cached_property
    def advantage(self) -> Interval:
        """Bounds on the largest advantage of an attack, which is the total variation distance of the two distributions.

        It is equal in both directions, that is, for P against Q and for Q against P. The second direction is
        evaluated only if the bounds of the first are not close and evaluations are not expensive. The bounds
        are then the best of both directions.
        """
        first, *further = self._directions
        is_expensive = first.read_nearby()
        lower, upper = first.advantage
        for direction in further:
            # Both directions have the same distance, so the bounds of both may be combined.
            is_wide = upper - lower > GOOD_GAP * upper
            if is_wide and not is_expensive:
                lower, upper = max(lower, direction.advantage.lower), min(upper, direction.advantage.upper)
            direction.evaluated.setdefault(0.0, Interval(lower, upper))
        return Interval(min(lower, upper), min(upper, 1.0))

    def advantage_above(self, floor: float) -> float:
        """Return a lower bound on the total variation distance, unless it is quickly shown to be at most `floor`.

        Args:
            floor: a distance that another pair of neighbours attains, in [0, 1].

        Returns:
            The lower bound; `floor` if an upper bound shows that the distance is at most `floor`.
        """
        if floor > 0.0 and self._directions[0].advantage_within(floor):
            return floor
        return self.advantage.lower

    def true_positives(self, floors: Mapping[float, float]) -> dict[float, Interval]:
        """Enclose the largest true positive rate of both directions at several false positive rates.

        If no lower bounds are needed, the false positive rate itself is the lower bound.

        Args:
            floors: for each false positive rate, a true positive rate that is already attained. The search may end once
                this pair is shown not to exceed it.

        Returns:
            The bounds on the true positive rate, by false positive rate.
        """
        mu = self.pair.gaussian_dp_mu
        if mu is not None:
            exact = {rate: gaussian_true_positives(rate, mu) for rate in floors}
            return exact if self.lower else {rate: Interval(rate, bound.upper) for rate, bound in exact.items()}
        rates = {rate: Interval(rate, rate) for rate in floors}
        for direction in self._directions:
            for rate, (least, most) in rates.items():
                # If the first direction is known closely, the second one matters only if it exceeds its upper bound.
                is_close_enough = most - least <= _ROUGH * most or not self.lower
                attained = most if is_close_enough else least
                interval = direction.true_positives(rate, floor=max(floors[rate], attained), attained=least)
                rates[rate] = Interval(max(least, interval.lower), max(most, interval.upper))
        return {rate: Interval(min(least, most), most) for rate, (least, most) in rates.items()}


def gaussian_true_positives(rate: float, mu: float) -> Interval:
    """Enclose the largest true positive rate of a test of N(μ, 1) against N(0, 1) at a false positive rate α.

    The rate is Φ(Φ⁻¹(α) + μ), with the normal distribution function Φ. The result is the closest of three kinds of
    bounds: with a small relative error of the rate, of 1 minus the rate, and of the rate minus α. This last difference
    is μ times a value of the normal density between Φ⁻¹(α) and Φ⁻¹(α) + μ.

    Args:
        rate: the false positive rate α, in (0, 1).
        mu: distance μ of the means in standard deviations, at least 0.

    Returns:
        The bounds. The lower one is at least α, and the upper one at most 1.
    """
    start = float(ndtri(rate))
    end = start + mu
    true_positive, false_negative = float(ndtr(end)), float(ndtr(-start - mu))
    # Below `_NORMAL` doubles have too few digits for a relative error, so only upper bounds are valid there.
    largest_true_positive = max(true_positive, _NORMAL) * (1.0 + _ROUNDING)
    largest_false_negative = max(false_negative, _NORMAL) * (1.0 + _ROUNDING)
    # Each list gets all valid bounds; the best one is returned. `nextafter` covers the rounding of a difference.
    uppers = [largest_true_positive, 1.0]
    lowers = [rate, math.nextafter(1.0 - largest_false_negative, 0.0)]
    if true_positive > _NORMAL:
        lowers.append(true_positive * (1.0 - _ROUNDING))
    if false_negative > _NORMAL:
        uppers.append(math.nextafter(1.0 - false_negative * (1.0 - _ROUNDING), 1.0))

    # The density between `start` and `end` is least at one of them. It is largest at 0 if 0 is between them.
    densities = [math.exp(-0.5 * point * point) / math.sqrt(2.0 * math.pi) for point in (start, end)]
    if min(densities) > _NORMAL:
        contains_zero = start < 0.0 < end
        largest_density = 1.0 / math.sqrt(2.0 * math.pi) if contains_zero else max(densities)
        lowers.append(math.nextafter(rate + mu * min(densities) * (1.0 - _ROUNDING), 0.0))
        uppers.append(math.nextafter(rate + mu * largest_density * (1.0 + _ROUNDING), 1.0))
    return Interval(max(lowers), min(uppers))
