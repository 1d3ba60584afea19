"""Rényi divergences of the best of a random number of runs, at every order (`best_of_runs`, first bound).

Beyond the listed orders, S(a, a − 1) ≤ (a − 1) H + φ(1) with H = S(1, 1), as φ increases. Here φ(1) = log E[K], and
f(0) ≤ 1 adds at most log 2 to a logarithm ≥ 0. So D_a ≤ D_a(Q‖Q′) + H + (|log E[K]| + log 2)/(a − 1). If
D_a(Q‖Q′) ≤ ρ a, the right side over a is at most ρ + (H + (|log E[K]| + log 2)/(a − 1))/a, which falls in a.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.concentration import concentration_of_parts
from epsilond.accountants.profiles.declared.renyi_of_pairs import upper_renyi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.renyi_bounds import RenyiBounds
    from epsilond.accountants.profiles.selection.best_of_runs import RunsDistribution, SelectionGain


@dataclass(frozen=True, eq=False)
class BestOfRunsRenyi:
    """Upper bounds on the Rényi divergences of the release of the best of a random number of runs.

    Attributes:
        base: dominating pair of distributions of one run.
        runs: distribution of the number of runs.
        gains: increase of the privacy losses by the choice, in each direction.
        loss: H in nats, an upper bound on the increase of every privacy loss by the choice.
        listed: bounds on the divergences of the best run at some orders.
    """

    base: Pair
    runs: RunsDistribution
    gains: tuple[SelectionGain, ...]
    loss: float
    listed: RenyiBounds

    @cached_property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence D_a of every order a > 1 is at most ρ a; math.inf if none is known.

        Bounds on D_a are listed at some orders a. Between two of these, D_a increases with a, so D_a/a is at most the
        bound at the larger order, divided by the smaller one. Beyond the last order, D_a is at most that of one run
        plus H + (|log E[K]| + log 2)/(a − 1). H bounds the increase of a privacy loss by the choice of the best run
        (`loss`), and K is the number of runs.
        """
        orders = (1.0, *self.listed.orders)
        ratios = [self.listed.at(larger) / smaller for smaller, larger in itertools.pairwise(orders)]

        last = orders[-1]
        increase = self.loss + (abs(math.log(self.runs.mean)) + math.log(2.0)) / (last - 1.0)
        base_pairs = self.base.alternatives or (self.base,)  # each is a valid bound for one run
        base_rho = min(concentration_of_parts(pair) for pair in base_pairs)
        # 16 units of roundoff exceed the relative error of the few sums and quotients.
        rounding = 1.0 + 16 * UNIT_ROUNDOFF
        return max(*ratios, base_rho + increase / last) * rounding

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a that hold in both directions.

        Args:
            order: order a > 1.

        Returns:
            The lower bound 0 and the upper bound, in nats.
        """
        upper = min(self.listed.at(order), selected_renyi(self.base, self.runs, self.gains, order))
        return Interval(0.0, upper)


def selected_renyi(base: Pair, runs: RunsDistribution, gains: Sequence[SelectionGain], order: float) -> float:
    """Return an upper bound on the Rényi divergence of the best of a random number of runs, in the worse direction.

    With the divergence D_a of one run it is:

        log(f(0) + f′(1) e^{(a−1) D_a + S})/(a − 1).

    f is the generating function of the number of runs, and S bounds the increase of the losses by the choice.

    Args:
        base: dominating pair of distributions of one run.
        runs: distribution of the number of runs.
        gains: increase of the privacy losses by the choice, in each direction.
        order: order a > 1 of the divergence.

    Returns:
        The bound in nats; math.inf if none is known.
    """
    divergence = upper_renyi(base, order)
    if divergence == math.inf:
        return math.inf
    gain = max(direction.supremum(order, order - 1.0) for direction in gains)
    terms = ((order - 1.0) * divergence, math.log(runs.mean), gain)
    # The error of the sum of the logarithms of the factors, relative to their sizes.
    rounding = 16 * UNIT_ROUNDOFF * math.fsum(map(abs, (*terms, order)))
    log_moment = math.fsum(terms) + rounding

    # Without a run, the output is the same on both neighbours.
    if runs.never_runs > 0.0:
        log_moment = float(np.logaddexp(math.log(runs.never_runs), log_moment)) + 16 * UNIT_ROUNDOFF
    # A divergence is not negative; the last factor rounds the quotient up.
    return max(log_moment, 0.0) / (order - 1.0) * (1.0 + 8 * UNIT_ROUNDOFF)
