"""The meaning of (ε, δ) for an attacker who distinguishes two neighbours: advantage, and true positive rates.

True positive rates are given at small false positive rates. The rates of one direction of a pair are those of
`TradeOff`, whose docstring proves both bounds. An attacker may distinguish P from Q better than Q from P, so both
directions count. The upper bounds use the dominating pair, and the lower bounds every pair that neighbours attain.
For N(μ, 1) against N(0, 1) the best test is a threshold. Its rate at the false positive rate α is Φ(Φ⁻¹(α) + μ) in both
directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scipy.special import ndtr, ndtri

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.trade_off import GOOD_GAP, TradeOff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair

FALSE_POSITIVE_RATES = (1e-2, 1e-3, 1e-5)
_SOUGHT = (1e-3, 1e-2, 1e-5)
"""The false positive rates in the order of the search. The first serves as the start for the rest."""
_ROUGH = 1e-3
"""Relative width of a rate above which the lower bound of the second direction may be the larger one."""
_ROUNDING = 1e-12
"""Relative rounding of Φ(Φ⁻¹(α) + μ): a few units for the function, and |x| + 1 for each unit in its argument x."""


@dataclass(frozen=True)
class TruePositives:
    """The true positive rate of the best attack at a false positive rate."""

    false_positive_rate: float
    true_positive_rate: Interval


@dataclass(frozen=True)
class Meaning:
    """Largest difference between true and false positive rates, and true positive rates at small false rates."""

    advantage: Interval
    true_positives: tuple[TruePositives, ...]


def meaning(curve: Curve) -> Meaning:
    """Return enclosures over all neighbours: upper bounds from the dominating pair, lower bounds from the witnesses.

    Guessing attains the rate α. A witness is evaluated only until it is shown to be no better than the bound already
    attained. No rates are evaluated if neighbours can be distinguished with certainty, or nearly.
    """
    aims: dict[float, float] = {}
    upper = _Attacks(curve.upper, aims, lower=curve.tight)
    witnesses = [upper if pair is curve.upper else _Attacks(pair, aims) for pair in curve.witnesses]
    most = upper.advantage.upper
    least = 0.0
    certain = False
    for witness in witnesses:
        least = max(least, witness.advantage_above(least))
        # The test whose rates differ by E_1 has at most 1 − E_1 false positives and at least E_1 true ones.
        certain = not curve.tight and 1.0 - least <= min(GOOD_GAP, *FALSE_POSITIVE_RATES)
        if certain:
            break
    if certain:
        bounds = {rate: Interval(least, 1.0) for rate in FALSE_POSITIVE_RATES}
    else:
        bounds = upper.true_positives({rate: rate for rate in FALSE_POSITIVE_RATES})
    attained = {rate: bound.lower for rate, bound in bounds.items()}
    for witness in witnesses:
        if witness is not upper and not certain:
            open_rates = {rate: value for rate, value in attained.items() if value < bounds[rate].upper}
            for rate, interval in witness.true_positives(open_rates).items():
                attained[rate] = max(attained[rate], interval.lower)
    return Meaning(
        advantage=Interval(min(least, most), most),
        true_positives=tuple(
            TruePositives(rate, Interval(min(attained[rate], bound.upper), bound.upper))
            for rate, bound in bounds.items()
        ),
    )


@dataclass(frozen=True, eq=False)
class _Attacks:
    """Attacks on one pair, in both directions.

    Attributes:
        pair: the pair of distributions.
        aims: best test on any pair so far, for each rate.
        lower: whether lower bounds are needed.
    """

    pair: Pair
    aims: dict[float, float]
    lower: bool = True

    @cached_property
    def _directions(self) -> tuple[TradeOff, ...]:
        forward, backward = self.pair.forward, self.pair.backward
        turns = ((forward, backward),) if self.pair.symmetric else ((forward, backward), (backward, forward))
        return tuple(TradeOff.of(*turn, _SOUGHT, lower=self.lower, aims=self.aims) for turn in turns)

    @cached_property
    def advantage(self) -> Interval:
        """Enclosure of E_1, which is equal in both directions.

        The second is evaluated only if the first bounds are not close.
        """
        enough = self._directions[0].read_nearby()
        lower, upper = self._directions[0].advantage
        for direction in self._directions[1:]:
            if not enough and upper - lower > GOOD_GAP * upper:
                lower, upper = max(lower, direction.advantage.lower), min(upper, direction.advantage.upper)
            direction.evaluated.setdefault(0.0, Interval(lower, upper))
        return Interval(min(lower, upper), min(upper, 1.0))

    def advantage_above(self, floor: float) -> float:
        """Return a lower bound on E_1, or the floor if E_1 is shown to be at most the floor."""
        if floor > 0.0 and self._directions[0].advantage_within(floor):
            return floor
        return self.advantage.lower

    def true_positives(self, floors: Mapping[float, float]) -> dict[float, Interval]:
        """Return the larger rate of both directions at each rate of the floors.

        If no lower bounds are needed, the rate itself is the lower bound.
        """
        if self.pair.gaussian_dp_mu is not None:
            exact = {rate: float(ndtr(ndtri(rate) + self.pair.gaussian_dp_mu)) for rate in floors}
            return {
                rate: Interval(value * (1.0 - _ROUNDING) if self.lower else rate, min(value * (1.0 + _ROUNDING), 1.0))
                for rate, value in exact.items()
            }
        rates = {rate: Interval(rate, rate) for rate in floors}
        for direction in self._directions:
            for rate, (least, most) in rates.items():
                is_rough_enough = most - least <= _ROUGH * most or not self.lower
                attained = most if is_rough_enough else least
                interval = direction.true_positives(rate, floor=max(floors[rate], attained), attained=least)
                rates[rate] = Interval(max(least, interval.lower), max(most, interval.upper))
        return {rate: Interval(min(least, most), most) for rate, (least, most) in rates.items()}
