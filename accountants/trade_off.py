"""The best test between two distributions: its true positive rate at a false positive rate.

The searches for it are in `curve.minimum_search`. Its docstring proves both bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from epsilond.accountants.curve.divergences import Divergences, divergence_at
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.minimum_estimate import LOSS
from epsilond.accountants.curve.minimum_search import GOOD_GAP, MinimumSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.profile import Profile

__all__ = ["GOOD_GAP", "LOSS", "TradeOff"]

CERTAIN = 1e-13
"""Value of 1 − E_1 up to which no test is searched for, where E_1 is the total variation distance."""
_EXPENSIVE_GAP, _BELOW_ONE = 5e-4, 0.1
"""Relative width of E_1 that is accepted on expensive nodes, and the least −log E_1 for this.

Near 1, 1 − E_1 matters.
"""


@dataclass(frozen=True, eq=False)
class TradeOff(Divergences):
    """The trade-off function of P against Q: the largest true positive rate of a test at each false positive rate.

    A test decides from an output which of the two distributions it is from. Its false positive rate is the probability
    of deciding for P under Q, and its true positive rate that under P. Both follow from the hockey-stick divergences
    E_γ(P‖Q) = sup over events S of P(S) − γ Q(S).
    """

    @classmethod
    def of(
        cls,
        forward: Profile,
        backward: Profile,
        rates: Sequence[float],
        *,
        lower: bool = True,
        aims: dict[float, float] | None = None,
    ) -> TradeOff:
        """Prepare the search for the best tests of P against Q, from the hockey-stick divergences of both directions.

        Both directions are needed, because a threshold γ < 1 is evaluated by the profile of (Q, P).

        Args:
            forward: profile of (P, Q), which gives E_γ(P‖Q) at each γ = e^ε ≥ 1.
            backward: profile of (Q, P).
            rates: the false positive rates at which true positive rates will be requested.
            lower: whether lower bounds are needed.
            aims: start values for the searches, log γ of the best test by false positive rate, for example of an
                earlier pair. The searches add their own results to it. None for no start values.

        Returns:
            The search. No profile is evaluated yet.
        """
        known_aims = {} if aims is None else aims
        return cls(forward, backward, tuple(rates), lower, known_aims)

    @property
    def advantage(self) -> Interval:
        """Bounds on E_1, the largest difference of a test's true and false positive rates, in either direction."""
        at_log_gamma_zero = self.evaluate([0.0])[0]
        lower = at_log_gamma_zero.lower if self.lower else 0.0
        return Interval(lower, at_log_gamma_zero.upper)

    def advantage_within(self, floor: float) -> bool:
        """Return whether an upper bound shows that the total variation distance E_1 is at most a number.

        The upper bound takes less time than the bounds of `advantage`.

        Args:
            floor: the number, in [0, 1].

        Returns:
            True if the upper bound on E_1 is at most `floor`.
        """
        if 0.0 not in self.evaluated and self.forward.shares_nodes:
            return self.upper_bound(0.0, floor) <= floor
        return self.advantage.upper <= floor

    def read_nearby(self) -> bool:
        """Store bounds on E_1, the total variation distance, that the evaluation of an earlier test also gives.

        Nothing is stored if these bounds are not close.

        Returns:
            True if bounds are stored that would be expensive to improve with other nodes.
        """
        # The engine may have bounded E_1 together with its best tests.
        if self.best is not None:
            bounds = self.best.log_delta_at_zero
            if bounds.upper - bounds.lower <= GOOD_GAP:
                self.evaluated[0.0] = divergence_at(0.0, bounds)
            return False
        if not self.lower:
            return False
        # A test near the requested rates may share its nodes with γ = 1.
        for near in self.near.values():
            bounds = near.log_delta(0.0)
            # Near E_1 = 1 the difference 1 − E_1 matters, so the bounds must be close there.
            accepts_wide_bounds = near.expensive and bounds.upper <= -_BELOW_ONE
            largest_gap = _EXPENSIVE_GAP if accepts_wide_bounds else GOOD_GAP
            if bounds.upper - bounds.lower <= largest_gap:
                self.evaluated[0.0] = divergence_at(0.0, bounds)
                return near.expensive
        return False

    def sharp_true_positives(self, rate: float) -> Interval:
        """Return the closest bounds on the most powerful test's true positive rate that the profiles allow.

        The bounds of `true_positives` are looser where a profile δ(ε) bends sharply. A further search divides the
        intervals around its best point.

        Args:
            rate: the false positive rate α, in (0, 1).

        Returns:
            Bounds on the true positive rate.
        """
        quick = self.true_positives(rate, floor=rate)
        search = MinimumSearch(self, rate, rate)
        search.sharpen()
        sharp = search.bounds()
        # The better bound on each side; the lower one must not exceed the upper one by a rounding.
        upper = min(quick.upper, sharp.upper)
        lower = min(max(quick.lower, sharp.lower), sharp.upper, quick.upper)
        return Interval(lower, upper)

    def true_positives(self, rate: float, *, floor: float, attained: float = 0.0) -> Interval:
        """Return bounds on the best test's true positive rate. If no lower bound is needed, it is `rate`.

        Let E_1 be the total variation distance. The test at γ = 1 has a false positive rate of at most 1 − E_1 and a
        true positive rate of at least E_1. So E_1 is a lower bound at every false positive rate from 1 − E_1 on, and is
        enough if it is close to 1. Cheap upper bounds come first if another direction or pair may be better.

        Guarantees: lower ≤ TPR ≤ upper if the profiles enclose both directions, and TPR ≤ upper if they bound them.

        Args:
            rate: the false positive rate α, in (0, 1).
            floor: a true positive rate of another direction or pair. The search ends if this direction exceeds it by
                at most a fraction `GOOD_GAP`.
            attained: a true positive rate that another direction attains. If this direction is shown not to exceed it,
                the lower bound is at most `rate`.

        Returns:
            The bounds.
        """
        at_one = self.evaluated.get(0.0)
        if at_one is not None and 1.0 - at_one.lower <= min(rate, CERTAIN):
            return Interval(at_one.lower if self.lower else rate, 1.0)

        # Show by cheap upper bounds, if possible, that this direction is no better than another one.
        search = MinimumSearch(self, rate, floor)
        if floor > rate:
            search.try_cheap_bounds()
            if search.decided:
                if search.upper > attained:
                    return search.bounds()
                return Interval(min(rate, search.upper), search.upper)

        best = self.best.by_rate.get(rate) if self.best is not None else None
        if best is not None:
            self.aims[rate] = best.epsilon
            return best.true_positive_rate

        near = self.near.get(rate) if self.lower else None
        if near is not None:
            search.refine_around(near)
        else:
            search.find_minimum()
        if not search.decided:
            self.aims[rate] = search.best_log_gamma
        return search.bounds()
