"""The pair of a mechanism that is known by bounds on its Rényi divergences at some orders.

Let C(a) = (a − 1)^{a−1}/a^a. A divergence D_a of order a gives E_γ ≤ C(a) e^{(a−1) D_a} γ^{−(a−1)} (Canonne, Kamath and
Steinke 2020, Proposition 12). The bound of `binary_pairs.py` is smaller where δ is large, at a likelihood ratio that is
searched for. The least over the orders bounds δ at each ε. It is not convex. The pair is therefore that of the greatest
convex function below finitely many of its points, in both directions (`points.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.curve.renyi_bounds import RenyiBounds
from epsilond.accountants.numerics.outward import product_up, sum_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.declared.best_ratios import listed_ratios
from epsilond.accountants.profiles.declared.points import ProfilePoint, points_pair
from epsilond.accountants.profiles.powers import log_conversion

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.declared.best_ratios import ListedRatios

POINTS = 384
"""Number of intervals between the points of the convex table. At a bound of 1e-6, the chords are about 1 % above it."""
_MODERATE = -30.0
"""log δ below which no likelihood ratio is searched for, because about the best one is infinite."""
_NEGLIGIBLE = -200.0
"""log δ at which the table ends; beyond it the tails are constant."""


@dataclass(frozen=True)
class RenyiProfile(Profile):
    """Privacy profile of a mechanism that is known only by bounds on its Rényi divergences, in both directions.

    Each order gives an upper bound on δ(ε). The least of them is not convex in e^ε, so it is not the profile of a pair.
    The greatest convex function below some of its points is one. Its tails are used in compositions.

    Attributes:
        bounds: the orders, and the upper bounds on the divergences.
    """

    bounds: RenyiBounds

    @cached_property
    def _table(self) -> Profile:
        """Profile of the pair with δ equal to the greatest convex function below a table of bounds on δ."""
        end = self._reaches(_NEGLIGIBLE)
        epsilons = end * (np.arange(POINTS + 1.0) / POINTS) ** 2
        least = np.minimum(self._log_bound(epsilons), self._ratios.log_bound(epsilons))
        log_deltas = np.minimum(least, 0.0)
        points = [ProfilePoint(*point) for point in zip(epsilons.tolist(), log_deltas.tolist(), strict=True)]
        return points_pair(points).forward

    @cached_property
    def _ratios(self) -> ListedRatios:
        """Table of the order and the likelihood ratio that give a small bound at each ε (`binary_pairs.py`)."""
        return listed_ratios(self.bounds, self._reaches(_MODERATE))

    def _reaches(self, log_delta: float) -> float:
        """Return the least ε at which the bound of some order on log δ has a given value.

        With the bound D_a on the divergence of order a and C(a) = (a − 1)^{a−1}/a^a, the bound of this order is:

            log δ(ε) ≤ log C(a) + (a − 1)(D_a − ε).

        Args:
            log_delta: the given value, a natural logarithm.

        Returns:
            ε in nats, at least 2^−20, so that a table up to this ε has a positive length.
        """
        epsilons = [
            divergence + (log_conversion(order) - log_delta) / (order - 1.0)
            for order, divergence in zip(self.bounds.orders, self.bounds.divergences, strict=True)
        ]
        return max(min(epsilons), 2.0**-20)

    def _log_bound(self, epsilon: FloatArray) -> FloatArray:
        """Return the least upper bound on log δ over the listed orders of the Rényi divergence, at each ε.

        At the order a it is log C(a) + (a − 1) (D_a − ε) with C(a) = (a − 1)^{a−1}/a^a, rounded up.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Natural logarithms, rounded up, in the shape of `epsilon`.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        order, divergence, log_factor = self._columns
        row = points.reshape(1, -1)
        value = log_factor + (order - 1.0) * (divergence - row)
        # A bound on the rounding errors of the terms.
        slack = 16 * UNIT_ROUNDOFF * (1.0 + (order + 1.0) * (1.0 + divergence + row) - log_factor)
        least = np.min(value + slack, axis=0, initial=math.inf)
        return np.asarray(least.reshape(points.shape))

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The orders a, the divergences D_a, and log C(a), each as an array with a row for each order."""
        log_factors = list(map(log_conversion, self.bounds.orders))
        columns = (self.bounds.orders, self.bounds.divergences, log_factors)
        order, divergence, log_factor = (np.asarray(column, dtype=np.float64)[:, None] for column in columns)
        return order, divergence, log_factor

    @property
    def log_infinite_mass(self) -> float:
        """Upper bound on the log probability of an infinite loss: the last log δ of the table."""
        return self._table.log_infinite_mass

    @property
    def tail_accuracy(self) -> float:
        """Accuracy of the tails of the table."""
        return self._table.tail_accuracy

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Return the least of three upper bounds on log δ at each ε. They follow from bounds on Rényi divergences.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            The least bound, also in place of the lower bounds, because none are known.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        # One order; one order and both directions; the convex function below a table of these two.
        least = np.minimum(self._log_bound(points), self._ratios.log_bound(points))
        upper = np.minimum(np.minimum(least, self._table.log_delta(points).upper), 0.0)
        return Enclosure(upper, upper)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the tails of the pair of the table, which dominates the mechanism."""
        return self._table.log_tails(epsilon)


def renyi_pair(bounds: RenyiBounds) -> Pair:
    """Return the symmetric pair that dominates every mechanism with given bounds on its Rényi divergences.

    Args:
        bounds: orders, and upper bounds on the divergences in both directions.
    """
    profile = RenyiProfile(bounds)
    return Pair(profile, profile, renyi=bounds)


def add_renyi(parts: Sequence[tuple[RenyiBounds, int]]) -> RenyiBounds:
    """Return bounds on the Rényi divergences of a composition: at each order the sum of the bounds of all its parts.

    At an order that a part does not list, its bound at the next larger listed order is used, because divergences
    increase with the order. Orders above the largest order of some part are left out.

    Args:
        parts: the bounds of each part, and its number of runs.

    Returns:
        The orders, and the sums in nats, rounded up.
    """
    orders = sorted({order for bounds, _ in parts for order in bounds.orders})

    def total(order: float) -> float:
        """Return the sum of the divergences at one order; math.inf if a part has no bound there."""
        values = [(bounds.at(order), times) for bounds, times in parts]
        if not all(value < math.inf for value, _ in values):
            return math.inf
        return sum_up(product_up(times, value) for value, times in values)

    return bounds_at(orders, total)


def bounds_at(orders: Iterable[float], divergence: Callable[[float], float]) -> RenyiBounds:
    """Return a table of bounds on Rényi divergences, at the orders at which a function gives a finite bound.

    Args:
        orders: increasing orders, each above 1.
        divergence: function from an order to an upper bound on the divergence in nats; math.inf if none is known.

    Returns:
        The orders with a finite bound, and these bounds in nats.
    """
    values = [(order, divergence(order)) for order in orders]
    bounds = [(order, value) for order, value in values if value < math.inf]
    return RenyiBounds(tuple(order for order, _ in bounds), tuple(value for _, value in bounds))
