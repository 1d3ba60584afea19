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
"""Rényi orders of a composition whose parts have bounds at every order: 1.016 to 1025. Neighbours change δ little."""


def renyi_product(parts: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return a pair with the sums of the Rényi divergences of all parts of a composition, which bound its δ.

    Args:
        parts: pairs of the composed mechanisms, and the number of runs of each.

    Returns:
        The pair; None if no part is known by divergences only, if those of another part are not known, or if there are
        fewer than two parts.
    """
    flat = list(unfold(parts))
    listed = sorted({order for pair, _ in flat if pair.renyi is not None for order in pair.renyi.orders})
    has_concentrated = any(pair.concentrated is not None for pair, _ in flat)
    if len(flat) < 2 or not (listed or has_concentrated):
        return None
    # If every part has a divergence of at most ρ a at order a, so has the composition, with the sum of all ρ.
    rho = _total_rho(flat)
    if rho is not None:
        return concentrated_pair(rho)

    def total(order: float) -> float:
        """Return the sum of the divergences at one order, rounded up; math.inf if one is not known."""
        divergences = [(upper_renyi(pair, order), times) for pair, times in flat]
        if any(value == math.inf for value, _ in divergences):
            return math.inf
        return sum_up(product_up(value, times) for value, times in divergences)

    # Parts with bounds at certain orders only decide the orders.
    bounds = bounds_at(listed or ORDERS, total)
    return renyi_pair(bounds) if bounds.orders else None


def _total_rho(parts: Sequence[tuple[Pair, int]]) -> float | None:
    """Return a ρ of a composition such that its Rényi divergence of every order a > 1 is at most ρ a.

    It is the sum, rounded up, of the ρ of its parts: ρ = μ²/2 for a Gaussian part, and the known ρ of a part that is
    ρ-zero-concentrated without exceptions.

    Args:
        parts: pairs of the composed mechanisms, and the number of runs of each.

    Returns:
        ρ; None if a part is of another kind.
    """
    terms: list[float] = []
    for pair, times in parts:
        if pair.gaussian_dp_mu is not None:
            terms.append(product_up(0.5, pair.gaussian_dp_mu * (1.0 + 2.0**-50), pair.gaussian_dp_mu, times))
        elif pair.concentrated is not None and pair.concentrated.log_escape == -math.inf:
            terms.append(product_up(pair.concentrated.rho, times))
        else:
            return None
    return sum_up(terms)
