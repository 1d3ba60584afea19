"""The product of dominating pairs: the only place that chooses between the methods of composition."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.composition.methods import METHODS, Fallback
from epsilond.accountants.composition.renyi_product import renyi_product
from epsilond.accountants.curve.least import alternatives_of, least_of
from epsilond.accountants.curve.pair import unfold
from epsilond.accountants.curve.plateaus import compose_plateaus
from epsilond.accountants.engine.enumeration import enumerated_pair_and_rest
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.profiles.deferred import DeferredValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.rule import Effort

BUDGETS: dict[Effort, Budget] = {"coarse": Budget.coarse(), "default": Budget(), "fine": Budget.fine()}
"""Limits on the work of one δ on a lattice of losses, by effort."""
MOST_SHIFTS = 64
"""Largest number of total losses of the parts with finitely many outcomes.

The composition of the other parts is evaluated once for each: tens of milliseconds in all.
"""


def composed_pair(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """Return a pair that dominates the composition of mechanisms.

    A part may have several dominating pairs. Then the first pairs of all parts are composed, then the second ones, and
    so on; the result has the least δ of these products. If a part is known by Rényi divergences only, the sum of the
    divergences of all parts is a further bound.

    Args:
        parts: dominating pairs (two distributions of outputs for neighbouring data sets), and the number of runs of
            each.
        effort: limit on the work of one δ.

    Returns:
        The pair. Its δ(ε) bounds that of the composition at every ε.

    Raises:
        BeyondBudget: the coarsest certified lattice of losses would exceed the budget.
    """
    if not any(pair.alternatives for pair, _ in parts):
        product = _product(parts, effort)
        # A product that is known by divergences is their sum already.
        is_sum_of_divergences = product.renyi is not None or product.concentrated is not None
        divergences = None if is_sum_of_divergences else renyi_product(parts)
        return product if divergences is None else least_of([product, divergences])

    alternatives = [(alternatives_of(pair), times) for pair, times in parts]
    number_of_products = max(len(pairs) for pairs, _ in alternatives)
    products = []
    for index in range(number_of_products):
        # A part with fewer alternatives repeats its last one.
        chosen = [(pairs[min(index, len(pairs) - 1)], times) for pairs, times in alternatives]
        products.append(_product(chosen, effort))
    return least_of(products)


def _product(parts: Sequence[tuple[Pair, int]], effort: Effort) -> Pair:
    """Compose pairs by the methods of `METHODS`: some in closed form, and the remaining ones by the first that applies.

    Args:
        parts: one dominating pair of each mechanism (two distributions of outputs), and its number of runs.
        effort: limit on the work of one δ.

    Returns:
        The product. If it is more than a single pair, it has two attributes: `parts`, the remaining pairs, and
        `plateau`, the pure or approximate guarantee that follows from those of all parts, if all have one.
    """
    # One run of a pair that is itself a product is that product.
    if len(parts) == 1:
        ((only_pair, times),) = parts
        if times == 1 and only_pair.parts:
            return only_pair

    joined: Sequence[tuple[Pair, int]] = list(unfold(parts))
    for method in METHODS:
        joined = method.join(joined)
    if len(joined) == 1:
        ((only_pair, times),) = joined
        if times == 1:
            return only_pair

    # The composition on a lattice is computed only if it is used.
    lattice = DeferredValue(functools.partial(compose, joined, budget=BUDGETS[effort]))
    pair = _finite_product(joined, lattice, effort) or _first_product(joined, lattice)
    plateau = compose_plateaus([(part.plateau, times) for part, times in parts])
    return replace(pair, parts=tuple(joined), plateau=plateau)


def _first_product(parts: Sequence[tuple[Pair, int]], lattice: Callable[[], Pair]) -> Pair:
    """Compose pairs by the first of `METHODS` that applies.

    Args:
        parts: pairs without alternatives, and the number of runs of each.
        lattice: function that computes the composition on a lattice of privacy losses, which serves every pair.

    Returns:
        The composed pair. The last method applies to every list of parts.
    """
    fallback = Fallback(lattice)
    for method in METHODS:
        fallback = method.replace_fallback(parts, fallback)
        if (pair := method.compose(parts, fallback)) is not None:
            return pair
    raise AssertionError("the lattice composes every product")


def _finite_product(parts: Sequence[tuple[Pair, int]], lattice: Callable[[], Pair], effort: Effort) -> Pair | None:
    """Compose the parts with finitely many outcomes separately from all others, and combine both.

    For the total loss X of the finite parts and the profile δ of the others, the product has the profile E[δ(ε − X)].
    So the other parts keep the accuracy of their own method, and infinite losses compose exactly.

    Args:
        parts: pairs without alternatives, and the number of runs of each.
        lattice: function that computes the composition on a lattice of privacy losses.
        effort: limit on the work of one δ.

    Returns:
        The product. None if no part or every part has finitely many outcomes, or if the only other part is Gaussian.
        None also if there are too many combinations of the outcomes.
    """
    finite = [(pair, times) for pair, times in parts if pair.atoms is not None]
    remaining = [(pair, times) for pair, times in parts if pair.atoms is None]
    is_gaussian = all(pair.gaussian_dp_mu is not None for pair, _ in remaining)
    if not finite or not remaining or is_gaussian:
        return None
    return enumerated_pair_and_rest(finite, functools.partial(_product, remaining, effort), lattice, MOST_SHIFTS)
