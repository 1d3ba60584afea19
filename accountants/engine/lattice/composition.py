"""The lattice engine: composition of any pairs of laws that are known by their tails.

Each pair's loss is discretised twice on one lattice common to all, once from above and once from below
(`discretise.py`), on cells laid where the tilted mass is (`grid.py`); the exponentially tilted laws are transformed,
raised to their counts and integrated against the hockey stick (`spectrum.py`). Tilting keeps relative accuracy down to
δ = 1e-300; counts enter as powers, so a billion rounds cost what one does.

Sources: Doroshenko et al. 2022 (connect-the-dots), Zhu, Dong and Wang 2022, Theorem 10 (dominating pairs compose);
docs/engine-certificate.md for every error term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Interval, Pair
from epsilond.accountants.engine.lattice.plan import Budget
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.survey import Part
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.crossing import Crossing, Guess, crossing
from epsilond.accountants.profiles.gaussian import ZeroProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Budget", "ComposedPair", "compose"]

DEFAULT_BUDGET = Budget()
MOST_ROUNDS = 10**10
_MOST_WORK, _WORK_TO_BRACKET = 96, 128
"""Grids and transforms of all orders in the search for one end of ε."""


@dataclass(frozen=True)
class ComposedPair(Pair):
    """A product of pairs that remembers its parts."""

    parts: tuple[tuple[Pair, int], ...] = ()

    def epsilon(self, log_delta: float) -> Interval:
        """The larger of both orders, searched from where an estimate points."""
        orders = [order for order in self.orders() if isinstance(order, ComposedProfile)]
        guess = max(order.guess(log_delta) for order in orders)
        upper = _searched(orders, ComposedProfile.upper_end, log_delta, guess).below
        if math.isfinite(upper):
            guess = guess._replace(epsilon=upper)
        lower = _searched(orders, lambda order, epsilon: order.ends(epsilon).lower, log_delta, guess).above
        return Interval(min(lower, upper), upper)


class _Spent(Exception):
    """A search needed more work than it has."""


def _searched(
    orders: Sequence[ComposedProfile], end: Callable[[ComposedProfile, float], float], log_delta: float, guess: Guess
) -> Crossing:
    """`crossing`, but a search that would take too long ends with the closest found: a wider answer, no less true.

    Work is counted whether remembered or not, so that what was asked before changes nothing.
    """
    above, below = [0.0], [math.inf]

    def larger(epsilon: float) -> float:
        used = sum(order.work for order in orders)
        bracketed = len(above) > 1 and len(below) > 1
        if used >= (_MOST_WORK if bracketed else _WORK_TO_BRACKET):
            raise _Spent
        value = max(end(order, epsilon) for order in orders)
        (above if value > log_delta else below).append(epsilon)
        return value

    for order in orders:
        order.count_anew()
    try:
        return crossing(larger, log_delta, guess)
    except _Spent:
        return Crossing(max(above), min(below))


def compose(parts: Sequence[tuple[Pair, int]], *, budget: Budget = DEFAULT_BUDGET) -> Pair:
    """The product of pairs, each repeated its count of times, in both orders.

    Guarantees: `log_delta` of each order of the answer encloses that of the product of exactly these pairs, at every
    ε ≥ 0, given that the pairs' tails, enclosures and infinite masses are what `Profile` promises. The width is
    honest, whatever it is; nothing is NaN. Composing a composed pair again composes its parts, so no accuracy is lost.
    The tails of the answer are those of a pair that dominates the product (see `ComposedProfile.log_tails`).

    Laws: k copies in a list are one part of count k; order does not matter; parts of no loss do not count.

    Args:
        parts: pairs and how often each is run, counts ≥ 0.
        budget: the work one δ may take.

    Raises:
        BeyondBudget: more different pairs than the budget has room for.
    """
    merged: dict[object, tuple[Pair, int]] = {}
    for pair, count in _flattened(parts):
        key = _identity(pair)
        merged[key] = (pair, count + (merged[key][1] if key in merged else 0))
    kept = tuple((pair, count) for pair, count in merged.values() if count > 0 and not _lossless(pair))
    rounds = sum(count for _, count in kept)
    if rounds > MOST_ROUNDS:
        raise BeyondBudget(
            f"{rounds:g} rounds are more than the {MOST_ROUNDS:g} that can be composed without a closed form"
        )
    limit = budget.parts
    if len(kept) > limit:
        raise BeyondBudget(f"{len(kept)} different pairs are more than the {limit} that can be composed")
    if not kept:
        nothing = ZeroProfile()
        return Pair(nothing, nothing)
    if len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return _product(kept, budget)


def _product(parts: tuple[tuple[Pair, int], ...], budget: Budget) -> ComposedPair:
    forward = ComposedProfile(tuple(Part(pair.forward, pair.backward, count) for pair, count in parts), budget)
    if all(pair.symmetric for pair, _ in parts):
        return ComposedPair(forward, forward, parts=parts)
    backward = ComposedProfile(tuple(Part(pair.backward, pair.forward, count) for pair, count in parts), budget)
    return ComposedPair(forward, backward, parts=parts)


def _flattened(parts: Sequence[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """Parts of composed pairs in place of the pairs."""
    return [
        (inner, count * times)
        for pair, times in parts
        for inner, count in (pair.parts if isinstance(pair, ComposedPair) else ((pair, 1),))
    ]


def _identity(pair: Pair) -> object:
    """Equal pairs are one; pairs that cannot be compared are told apart by identity."""
    try:
        hash(pair)
    except TypeError:
        return id(pair)
    return pair


def _lossless(pair: Pair) -> bool:
    """Whether the loss is zero under both laws."""
    zero = np.zeros(1)
    return all(
        bool(np.isneginf(profile.log_delta(zero).upper[0]) and np.isneginf(profile.log_tails(zero).log_p[0]))
        for profile in pair.orders()
    )
