"""The product of dominating pairs: the only place that chooses between the methods of composition."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.composition.methods import METHODS, Fallback
from epsilond.accountants.curve.least import alternatives_of, least_of
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.curve.plateaus import compose_plateaus
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.profiles.deferred import DeferredValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.rule import Effort

BUDGETS: dict[Effort, Budget] = {"coarse": Budget.coarse(), "default": Budget(), "fine": Budget.fine()}
"""Limit on the work of one δ on the lattice, by effort."""


def composed_pair(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """Return the pair of a composition: the product of the pairs of its parts.

    A part may be the least of several dominating pairs. Then the first pairs of all parts are composed, then the second
    ones, and so on, and the least of these products is returned.

    Args:
        parts: pairs, and the number of runs of each.
        effort: limit on the work of one δ.

    Raises:
        BeyondBudget: the coarsest certified lattice would exceed the budget.
    """
    if not any(pair.alternatives for pair, _ in parts):
        return _product(parts, effort)
    choices = max(len(alternatives_of(pair)) for pair, _ in parts)
    chosen = [
        [(alternatives_of(pair)[min(place, len(alternatives_of(pair)) - 1)], times) for pair, times in parts]
        for place in range(choices)
    ]
    return least_of([_product(choice, effort) for choice in chosen])


def _product(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """Compose by the first of `METHODS` that applies.

    The fallback is the composition on a lattice, unless a method replaces it. It is computed at its first use.

    Args:
        parts: pairs without alternatives, and the number of runs of each.
        effort: limit on the work of one δ.
    """
    if len(parts) == 1 and parts[0][1] == 1 and parts[0][0].parts:
        return parts[0][0]
    joined: Sequence[tuple[Pair, int]] = list(unfold(parts))
    for method in METHODS:
        joined = method.join(joined)
    if len(joined) == 1 and joined[0][1] == 1:
        return joined[0][0]
    fallback = Fallback(DeferredValue(functools.partial(compose, joined, budget=BUDGETS[effort])))
    for method in METHODS:
        fallback = method.replace_fallback(joined, fallback)
        if (pair := method.compose(joined, fallback)) is not None:
            plateau = compose_plateaus([(part.plateau, times) for part, times in parts])
            return replace(pair, parts=tuple(joined), plateau=plateau)
    raise AssertionError("the lattice composes every product")
