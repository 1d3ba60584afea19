"""The composition of mechanisms of which some are known by divergences only: the divergences of all parts add up.

It is a second bound next to the product of the dominating pairs. The dominating pair of a bound on divergences is no
mechanism with these divergences, so that its product with others may be larger than the bound from the sum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.numerics.outward import product_up, sum_up
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.declared.renyi_bounds import bounds_at, renyi_pair
from epsilond.accountants.profiles.declared.renyi_of_pairs import upper_renyi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair

ORDERS = tuple(1.0 + 2.0 ** (exponent / 4.0) for exponent in range(-24, 41))
"""Rényi orders, from 1.016 to 1025, of a composition whose parts have bounds at every order.

The best order between two of these would change δ little.
"""


def renyi_product(parts: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return a pair that bounds δ of a composition by the sums of the Rényi divergences of all its parts.

    Args:
        parts: pairs of the composed mechanisms, and the number of runs of each.

    Returns:
        The pair. None if there are fewer than two parts, if no part is known by divergences only, or if the divergences
        of some part are not known at any of the orders.
    """
    flat = list(unfold(parts))
    listed = sorted({order for pair, _ in flat if pair.renyi is not None for order in pair.renyi.orders})
    has_concentrated = any(pair.concentrated is not None for pair, _ in flat)
    if len(flat) < 2 or not (listed or has_concentrated):
        return None
    # If each part has a divergence of at most ρ a at every order a, the composition has one with the sum of all ρ.
    rho = _total_rho(flat)
    if rho is not None:
        return concentrated_pair(rho)

    def total(order: float) -> float:
        """Return the sum of the divergences at one order, rounded up; math.inf if one is not known."""
        divergences = [(upper_renyi(pair, order), times) for pair, times in flat]
        if any(value == math.inf for value, _ in divergences):
            return math.inf
        return sum_up(product_up(value, times) for value, times in divergences)

    # If some parts have bounds at certain orders only, the orders are theirs.
    bounds = bounds_at(listed or ORDERS, total)
    return renyi_pair(bounds) if bounds.orders else None


def _total_rho(parts: Sequence[tuple[Pair, int]]) -> float | None:
    """Return a ρ of a composition such that its Rényi divergence of every order a > 1 is at most ρ a.

    It is the sum of the ρ of its parts: μ²/2 for a Gaussian part, and the ρ of a part that is known to be
    ρ-zero-concentrated with probability 1.

    Args:
        parts: pairs of the composed mechanisms, and the number of runs of each.

    Returns:
        ρ, rounded up; None if a part is of another kind.
    """
    terms: list[float] = []
    for pair, times in parts:
        if pair.gaussian_dp_mu is not None:
            # The factor is a margin for a μ that was rounded.
            terms.append(product_up(0.5, pair.gaussian_dp_mu * (1.0 + 2.0**-50), pair.gaussian_dp_mu, times))
        elif pair.concentrated is not None and pair.concentrated.log_escape == -math.inf:
            terms.append(product_up(pair.concentrated.rho, times))
        else:
            return None
    return sum_up(terms)
