"""What (ε, δ) means to an attacker who tells two neighbours apart: advantage, and true positives at few false ones.

The rates of one order of a pair are those of `TradeOff`, whose docstring proves both ends. An attacker may be better at
telling P from Q than Q from P, so both orders count: of the pair that dominates for the upper ends, of every pair that
neighbours realise for the lower ones. Of N(μ, 1) against N(0, 1) the best test is a threshold, with the rate
Φ(Φ⁻¹(α) + μ) in both orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scipy.special import ndtr, ndtri

from epsilond.accountants.curve import Interval
from epsilond.accountants.trade_off import GOOD_GAP, TradeOff

if TYPE_CHECKING:
    from epsilond.accountants.curve import Curve, Pair

FALSE_POSITIVE_RATES = (1e-2, 1e-3, 1e-5)
_SOUGHT = (1e-3, 1e-2, 1e-5)
"""The same, as an engine looks for them: the first where it serves the others best."""
_ROUNDING = 1e-12
"""Relative rounding of Φ(Φ⁻¹(α) + μ): a few units for the function, and |x| + 1 for each unit in its argument."""


@dataclass(frozen=True)
class TruePositives:
    """The true positive rate of the best attack at a false positive rate."""

    false_positive_rate: float
    true_positive_rate: Interval


@dataclass(frozen=True)
class Meaning:
    """Largest difference between true and false positive rates, and the former where the latter is small."""

    advantage: Interval
    true_positives: tuple[TruePositives, ...]


def meaning(curve: Curve) -> Meaning:
    """Enclosures over all neighbours: the upper ends by the bound, the lower by the witnesses."""
    upper = _Attacks(curve.upper)
    witnesses = [upper if pair is curve.upper else _Attacks(pair) for pair in curve.witnesses]
    most = upper.advantage.upper
    least = max((one.advantage.lower for one in witnesses), default=0.0)
    return Meaning(
        advantage=Interval(min(least, most), most),
        true_positives=tuple(TruePositives(rate, _rate(upper, witnesses, rate)) for rate in FALSE_POSITIVE_RATES),
    )


def _rate(upper: _Attacks, witnesses: list[_Attacks], rate: float) -> Interval:
    """Guessing attains α; witnesses that cannot do better than what is attained already are not read to the end."""
    bound = upper.true_positives(rate, floor=rate, lower=upper in witnesses)
    least = bound.lower
    for one in witnesses:
        if one is not upper and least < bound.upper:
            least = max(least, one.true_positives(rate, floor=least, lower=True).lower)
    return Interval(min(least, bound.upper), bound.upper)


@dataclass(frozen=True, eq=False)
class _Attacks:
    """On one pair, in both orders."""

    pair: Pair

    @cached_property
    def _orders(self) -> tuple[TradeOff, ...]:
        forward, backward = self.pair.forward, self.pair.backward
        first = TradeOff.of(forward, backward, _SOUGHT)
        first.read_nearby()
        return (first,) if self.pair.symmetric else (first, TradeOff.of(backward, forward, _SOUGHT))

    @property
    def advantage(self) -> Interval:
        """E_1, which is the same in both orders: the second is read if the first is not known well."""
        lower, upper = self._orders[0].advantage
        for order in self._orders[1:]:
            if upper - lower > GOOD_GAP * upper:
                lower, upper = max(lower, order.advantage.lower), min(upper, order.advantage.upper)
        return Interval(min(lower, upper), min(upper, 1.0))

    def true_positives(self, rate: float, *, floor: float, lower: bool) -> Interval:
        """The larger of both orders; `rate` from below unless `lower`."""
        if self.pair.gaussian_dp_mu is not None:
            exact = float(ndtr(ndtri(rate) + self.pair.gaussian_dp_mu))
            return Interval(exact * (1.0 - _ROUNDING), min(exact * (1.0 + _ROUNDING), 1.0))
        least, most = rate, rate
        for order in self._orders:
            found = order.true_positives(rate, floor=max(floor, most), lower=lower)
            least, most = max(least, found.lower), max(most, found.upper)
        return Interval(min(least, most), most)
