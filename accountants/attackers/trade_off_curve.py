"""The trade-off curve of a mechanism: the largest true positive rate of an attacker at any false positive rates.

An attacker may distinguish P from Q better than Q from P, so both directions count. The upper bounds are those of the
dominating pair, and the lower bounds those of the pairs that neighbours attain. `curve.minimum_search` proves both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.meaning import TruePositives, gaussian_true_positives
from epsilond.accountants.trade_off import TradeOff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.curve import Curve
    from epsilond.accountants.curve.pair import Pair


def trade_off_curve(curve: Curve, rates: Sequence[float]) -> tuple[TruePositives, ...]:
    """Enclose the largest true positive rate of an attacker at each of several false positive rates.

    An attacker decides by a test which of two neighbouring data sets was used.

    Args:
        curve: the privacy curve of the mechanism.
        rates: false positive rates, each in (0, 1).

    Returns:
        For each false positive rate, in the given order, the rate and bounds on the largest true positive rate.

    Guarantees:
        The bounds enclose the largest true positive rate over all neighbours, both directions, and all tests.
    """
    # The dominating pair gives the upper bounds, and pairs that the mechanism attains give the lower ones.
    dominating = _BestTests(curve.upper, rates, lower=curve.tight)
    witnesses = [_BestTests(pair, rates) for pair in curve.witnesses if pair is not curve.upper]
    points = []
    for rate in rates:
        lower, upper = dominating.true_positives(rate)
        lower_bounds = [witness.true_positives(rate).lower for witness in witnesses]
        lower = max([rate, lower, *lower_bounds])
        points.append(TruePositives(rate, Interval(min(lower, upper), upper)))
    return tuple(points)


def upper_true_positive_rate(curve: Curve, rate: float) -> float:
    """Return an upper bound on the largest true positive rate of an attacker at a false positive rate.

    Args:
        curve: the privacy curve of the mechanism.
        rate: the false positive rate, in (0, 1).

    Returns:
        The bound, in (0, 1].
    """
    return _BestTests(curve.upper, (rate,), lower=False).true_positives(rate).upper


def lower_true_positive_rate(curve: Curve, rate: float) -> float:
    """Return a lower bound on the largest true positive rate of an attacker at a false positive rate.

    It takes less time than `trade_off_curve`, and may be lower.

    Args:
        curve: the privacy curve of the mechanism.
        rate: the false positive rate, in (0, 1).

    Returns:
        The bound, at least `rate`.
    """
    bounds = [_BestTests(pair, (rate,)).quick_lower_bound(rate) for pair in curve.witnesses]
    return max([rate, *bounds])


class _BestTests:
    """Best tests between the two distributions of a pair, of P against Q and of Q against P.

    A test of P against Q decides from an output whether it came from P. Its true positive rate is the probability of
    this decision under P, and its false positive rate that under Q.
    """

    def __init__(self, pair: Pair, rates: Sequence[float], *, lower: bool = True) -> None:
        """Prepare the search for the best tests in each distinct direction.

        Args:
            pair: the pair of distributions.
            rates: false positive rates at which tests will be searched.
            lower: whether lower bounds are needed.
        """
        self._mu = pair.gaussian_dp_mu
        distinct_rates = tuple(dict.fromkeys(rates))
        self._trade_offs = [TradeOff.of(pair.forward, pair.backward, distinct_rates, lower=lower)]
        if not pair.symmetric:
            self._trade_offs.append(TradeOff.of(pair.backward, pair.forward, distinct_rates, lower=lower))

    def true_positives(self, rate: float) -> Interval:
        """Enclose the larger true positive rate of both directions at a false positive rate.

        Args:
            rate: the false positive rate, in (0, 1).

        Returns:
            Lower and upper bound, in [0, 1].
        """
        if self._mu is not None:
            return gaussian_true_positives(rate, self._mu)
        bounds = [trade_off.sharp_true_positives(rate) for trade_off in self._trade_offs]
        return Interval(max(bound.lower for bound in bounds), max(bound.upper for bound in bounds))

    def quick_lower_bound(self, rate: float) -> float:
        """Return a lower bound on the larger true positive rate of both directions, with less work than both bounds.

        Args:
            rate: the false positive rate, in (0, 1).
        """
        if self._mu is not None:
            return gaussian_true_positives(rate, self._mu).lower
        return max(trade_off.true_positives(rate, floor=rate).lower for trade_off in self._trade_offs)
