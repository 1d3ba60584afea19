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
    """Return bounds on the largest true positive rates of attackers at false positive rates, in the given order.

    An attacker decides by a test which of two neighbouring data sets was used. Both directions of a pair count.

    Args:
        curve: the privacy curve of the mechanism.
        rates: false positive rates, each in (0, 1).

    Returns:
        For each false positive rate, the rate and an enclosure of the largest true positive rate.

    Guarantees: every enclosure contains the largest true positive rate over all neighbours, directions and tests.
    """
    # The dominating pair gives the upper bounds, and the pairs that the mechanism attains the lower ones.
    dominating = _Directions(curve.upper, rates, lower=curve.tight)
    witnesses = [_Directions(pair, rates) for pair in curve.witnesses if pair is not curve.upper]
    points = []
    for rate in rates:
        lower, upper = dominating.true_positives(rate)
        lower_bounds = [witness.true_positives(rate).lower for witness in witnesses]
        lower = max([rate, lower, *lower_bounds])
        points.append(TruePositives(rate, Interval(min(lower, upper), upper)))
    return tuple(points)


def upper_true_positive_rate(curve: Curve, rate: float) -> float:
    """Return only the upper bound on the largest true positive rate at a false positive rate.

    Args:
        curve: the privacy curve of the mechanism.
        rate: the false positive rate, in (0, 1).

    Returns:
        The bound, in (0, 1].
    """
    return _Directions(curve.upper, (rate,), lower=False).true_positives(rate).upper


def lower_true_positive_rate(curve: Curve, rate: float) -> float:
    """Return a lower bound on the largest true positive rate at a false positive rate.

    It takes less time than both bounds.

    Args:
        curve: the privacy curve of the mechanism.
        rate: the false positive rate, in (0, 1).

    Returns:
        The bound, at least `rate`.
    """
    bounds = [_Directions(pair, (rate,)).quick_lower_bound(rate) for pair in curve.witnesses]
    return max([rate, *bounds])


class _Directions:
    """Searches for the best tests between two distributions, of P against Q and of Q against P.

    A test decides from an output which of the two distributions it came from. Its true positive rate is the probability
    of the decision for P under P, and its false positive rate that under Q.
    """

    def __init__(self, pair: Pair, rates: Sequence[float], *, lower: bool = True) -> None:
        """Prepare the searches for the best tests.

        Args:
            pair: the pair of distributions.
            rates: the false positive rates.
            lower: whether lower bounds are needed.
        """
        self._mu = pair.gaussian_dp_mu
        distinct_rates = tuple(dict.fromkeys(rates))
        self._trade_offs = [TradeOff.of(pair.forward, pair.backward, distinct_rates, lower=lower)]
        if not pair.symmetric:
            self._trade_offs.append(TradeOff.of(pair.backward, pair.forward, distinct_rates, lower=lower))

    def true_positives(self, rate: float) -> Interval:
        """Return bounds on the larger true positive rate of both directions at a false positive rate.

        Args:
            rate: the false positive rate, in (0, 1).

        Returns:
            Lower and upper bound on the rate, in [0, 1].
        """
        # A Gaussian pair has a closed form.
        if self._mu is not None:
            return gaussian_true_positives(rate, self._mu)
        bounds = [trade_off.sharp_true_positives(rate) for trade_off in self._trade_offs]
        return Interval(max(bound.lower for bound in bounds), max(bound.upper for bound in bounds))

    def quick_lower_bound(self, rate: float) -> float:
        """Return a lower bound on the larger true positive rate of both directions, with less work than both bounds.

        Args:
            rate: the false positive rate, in (0, 1).

        Returns:
            The bound.
        """
        if self._mu is not None:
            return gaussian_true_positives(rate, self._mu).lower
        return max(trade_off.true_positives(rate, floor=rate).lower for trade_off in self._trade_offs)
