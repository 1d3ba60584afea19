"""Searches for the order and the likelihood ratio with which a bound of `binary_pairs` is about the least.

The searches affect only the tightness of a bound: every order and every ratio gives a valid bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.minimum import golden_sections
from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.accountants.profiles.declared.binary_pairs import binary_log_bound

if TYPE_CHECKING:
    from epsilond.accountants.curve.renyi_bounds import RenyiBounds
    from epsilond.accountants.numerics.special import FloatArray

LEAST_EXCESS = 1e-9
"""Least a − 1 of an order a. The bound at this order exceeds that of a → 1 by at most about this share of it."""
_NODES = 64
"""Number of ε in the table for ρ-zCDP; order and ratio are interpolated between them."""
_LISTED = 64
"""Number of intervals between the ε in the table for listed orders."""
_REACH = 8.0
"""Largest (ε − ρ)/√(2ρ) in the table for ρ-zCDP. Beyond it, v = ∞ gives a bound larger by at most a share of 1e-12."""
_ORDER_STEPS = 14
"""Steps of the search for the order. The bound exceeds the least one by a share of at most about 1e-4."""
_RATIO_STEPS = 12
"""Steps of the search for the likelihood ratio."""
_LEAST_SIZE = 1e-100
"""Lower limit of an estimate of v − ε, whose logarithm is needed also for a divergence of 0."""
_KEPT = 16
"""Number of ρ whose tables are stored."""


@dataclass(frozen=True)
class ConcentratedRatios:
    """Table of the Rényi order and the likelihood ratio that give about the least bound on δ(ε) from ρ-zCDP.

    ρ-zCDP bounds the Rényi divergence of every order a by ρ a. Any order and ratio give a valid bound
    (`binary_pairs.binary_log_bound`).

    Attributes:
        rho: ρ > 0.
        epsilons: increasing values of ε, in nats.
        excesses: b = a − 1 of the order a, one for each ε.
        log_ratios: log likelihood ratio v, one for each ε.
    """

    rho: float
    epsilons: FloatArray
    excesses: FloatArray
    log_ratios: FloatArray

    def log_bound(self, epsilon: FloatArray) -> FloatArray:
        """Return the log of an upper bound on δ from ρ-zCDP at each ε.

        The bound depends on an order a = b + 1 of the Rényi divergence, and on a log likelihood ratio v. Any values are
        valid. Those used are interpolated in ε from a table of about the best b (`excesses`) and v (`log_ratios`).

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Natural logarithms, rounded up; ∞ for an ε outside the table.
        """
        excess = np.interp(epsilon, self.epsilons, self.excesses)
        log_ratio = np.interp(epsilon, self.epsilons, self.log_ratios)
        value = _concentrated_log_bound(self.rho, epsilon, excess, log_ratio)
        is_inside = (epsilon >= self.epsilons[0]) & (epsilon <= self.epsilons[-1])
        return np.asarray(np.where(is_inside, value, math.inf))


def _concentrated_log_bound(rho: float, epsilon: FloatArray, excess: FloatArray, log_ratio: FloatArray) -> FloatArray:
    """Return the log of an upper bound on δ from ρ-zCDP, with one order and one likelihood ratio for each ε.

    Args:
        rho: ρ > 0.
        epsilon: array of ε ≥ 0, in nats.
        excess: a − 1 > 0, one for each ε.
        log_ratio: log likelihood ratio v > 0, one for each ε.

    Returns:
        Natural logarithm of the upper bound on δ, one for each ε.
    """
    # The divergence of order a is at most ρ a. The last factor exceeds the rounding errors.
    divergence = rho * (1.0 + excess) * (1.0 + 2.0**-50)
    return binary_log_bound(epsilon, order_excess=excess, divergence=divergence, log_ratio=log_ratio)


@lru_cache(maxsize=_KEPT)
def concentrated_ratios(rho: float) -> ConcentratedRatios:
    """Search for the Rényi orders and likelihood ratios that give about the least bounds on δ from ρ-zCDP.

    The table begins at ε = log(sinh(x)/x), where x is the ε of the randomized response with the Kullback–Leibler
    divergence ρ. At this ε the bound of order a → 1 is the least, and the log likelihood ratio is 2x.

    Args:
        rho: ρ > 0.

    Returns:
        The table of ε with an order and a log likelihood ratio for each.
    """
    # The values of ε are dense near the first one.
    pure = pure_of_divergence(rho)
    # log(sinh(x)/x), without overflow for large x.
    first = pure + float(np.log(-np.expm1(-2.0 * pure) / (2.0 * pure)))
    first, last = max(first, 0.0), rho + _REACH * math.sqrt(2.0 * rho)
    epsilons = first + (last - first) * np.linspace(0.0, 1.0, _NODES) ** 2

    # About the best b for an infinite likelihood ratio is an upper limit for the search.
    largest_excess = epsilons / (2.0 * rho) + 1.0 / math.sqrt(2.0 * rho)

    def excess_at(share: FloatArray) -> FloatArray:
        """Return b at each ε: the square of a share in [0, 1], times the upper limit."""
        return np.asarray(np.maximum(largest_excess * share * share, LEAST_EXCESS))

    def least_log_bound(share: FloatArray) -> FloatArray:
        """Return the log of the bound with the best ratio for b."""
        excess = excess_at(share)
        log_ratio = best_log_ratios(epsilons, excess, rho * (1.0 + excess))
        return _concentrated_log_bound(rho, epsilons, excess, log_ratio)

    shares = golden_sections(least_log_bound, np.zeros(_NODES), np.ones(_NODES), steps=_ORDER_STEPS)
    excesses = excess_at(shares)
    log_ratios = best_log_ratios(epsilons, excesses, rho * (1.0 + excesses))

    # At the first ε, order and ratio are known.
    excesses[0], log_ratios[0] = LEAST_EXCESS, 2.0 * pure
    return ConcentratedRatios(rho, epsilons, excesses, log_ratios)


def pure_of_divergence(rho: float) -> float:
    """Return the approximate ε of the binary randomized response with the Kullback–Leibler divergence ρ.

    It is the solution x of x tanh(x/2) = ρ, which is computed by bisection. It is between max(ρ, √(2ρ)) and ρ + √(2ρ),
    because x²/(2 + x) ≤ x tanh(x/2) ≤ min(x, x²/2).

    Args:
        rho: ρ > 0, in nats.

    Returns:
        ε in nats.
    """

    def is_small_enough(x: float) -> bool:
        """Return whether x tanh(x/2) is at most ρ."""
        return x * math.tanh(0.5 * x) <= rho

    root = math.sqrt(2.0 * rho)
    low, _high = bisect_reals(is_small_enough, max(rho, root), rho + root, steps=80)
    return low


def best_log_ratios(epsilon: FloatArray, excess: FloatArray, divergence: FloatArray) -> FloatArray:
    """Search at each ε for the log likelihood ratio v at which `binary_log_bound` is about the least.

    Every v gives a valid bound. The best v − ε is about log(1 + 1/b) for large ε, and of the size of √(D/a) or D for
    small ε. The search is from a fraction of these estimates to a multiple.

    Args:
        epsilon: array of ε ≥ 0, in nats.
        excess: b = a − 1 > 0 of the order a of the Rényi divergence, one for each ε.
        divergence: D, the bound on the divergence of order a, in nats, one for each ε.

    Returns:
        v ≥ ε at each ε, in nats.
    """
    distance_if_large = np.log1p(1.0 / excess)
    distance_if_small = divergence + np.sqrt(2.0 * divergence / (1.0 + excess))
    distance_if_small = np.maximum(distance_if_small, _LEAST_SIZE)
    # The search is over log(v − ε), from a tenth of the smaller estimate to four times the sum of both.
    low = np.log(0.1 * np.minimum(distance_if_large, distance_if_small))
    high = np.log(4.0 * (distance_if_large + distance_if_small))

    def log_bound(log_distance: FloatArray) -> FloatArray:
        """Return the log of the bound on δ at v = ε + e^log_distance."""
        log_ratio = epsilon + np.exp(log_distance)
        return binary_log_bound(epsilon, order_excess=excess, divergence=divergence, log_ratio=log_ratio)

    log_distances = golden_sections(log_bound, low, high, steps=_RATIO_STEPS)
    return np.asarray(epsilon + np.exp(log_distances))


@dataclass(frozen=True)
class ListedRatios:
    """Table of the listed Rényi order and the likelihood ratio that give about the least bound on δ(ε).

    Attributes:
        epsilons: increasing ε, in nats.
        excesses: b = a − 1 of the Rényi order a, one for each ε.
        divergences: bound on the divergence of this order in nats, one for each ε.
        log_ratios: log likelihood ratio v, one for each ε.
    """

    epsilons: FloatArray
    excesses: FloatArray
    divergences: FloatArray
    log_ratios: FloatArray

    def log_bound(self, epsilon: FloatArray) -> FloatArray:
        """Return the log of an upper bound on δ at each ε, from the orders and ratios of the table.

        It is the least of four bounds: with the Rényi order listed for the next smaller and the next larger ε, each
        with the likelihood ratio listed there and with an interpolated one. Any order and ratio give a valid bound.

        Args:
            epsilon: array of ε ≥ 0, in nats.

        Returns:
            Natural logarithms, rounded up, one for each ε.
        """
        # Indices of the next larger and the next smaller ε in the table.
        right = np.minimum(np.searchsorted(self.epsilons, epsilon), self.epsilons.size - 1)
        left = np.maximum(right - 1, 0)
        interpolated_ratio = np.interp(epsilon, self.epsilons, self.log_ratios)
        bounds = []
        for index in (left, right):
            for log_ratio in (interpolated_ratio, self.log_ratios[index]):
                bound = binary_log_bound(
                    epsilon,
                    order_excess=self.excesses[index],
                    divergence=self.divergences[index],
                    log_ratio=log_ratio,
                )
                bounds.append(bound)
        return np.asarray(np.minimum.reduce(bounds))


def listed_ratios(bounds: RenyiBounds, last: float) -> ListedRatios:
    """Search at several ε for the listed Rényi order and the likelihood ratio with about the least bound on δ.

    The values of ε are proportional to squares of integers, and so dense near 0.

    Args:
        bounds: upper bounds on the Rényi divergences of listed orders.
        last: largest ε, in nats.

    Returns:
        The table, for ε from 0 to `last`.
    """
    epsilons = last * np.linspace(0.0, 1.0, _LISTED + 1) ** 2
    excesses = np.asarray(bounds.orders) - 1.0
    divergences = np.asarray([bounds.at(order) for order in bounds.orders])

    # Arrays with a row for each order and a column for each ε.
    shape = (len(bounds.orders), epsilons.size)
    excess_rows = np.broadcast_to(excesses[:, None], shape)
    divergence_rows = np.broadcast_to(divergences[:, None], shape)
    log_ratios = best_log_ratios(np.broadcast_to(epsilons, shape), excess_rows, divergence_rows)
    log_bounds = binary_log_bound(epsilons, order_excess=excess_rows, divergence=divergence_rows, log_ratio=log_ratios)

    best = np.argmin(log_bounds, axis=0)
    columns = np.arange(epsilons.size)
    return ListedRatios(epsilons, excesses[best], divergences[best], log_ratios[best, columns])
