"""The lattice engine: composition of any pairs of laws that are known by their tails.

Each pair's loss is discretised twice on one lattice common to all, once from above and once from below
(`discretise.py`), on cells laid where the tilted mass is (`grid.py`); the exponentially tilted laws are transformed,
raised to their counts and integrated against the hockey stick (`spectrum.py`). Tilting keeps relative accuracy down to
δ = 1e-300; counts enter as powers, so a billion rounds cost what one does.

Sources: Doroshenko et al. 2022 (connect-the-dots), Zhu, Dong and Wang 2022, Theorem 10 (dominating pairs compose);
docs/engine-certificate.md for every error term.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve import Enclosure, Interval, Pair, upper_end_of
from epsilond.accountants.engine.lattice.plan import Budget
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.search import epsilon_of, lower_epsilon_of, upper_epsilon_of
from epsilond.accountants.engine.lattice.survey import Part
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.profiles.gaussian import ZeroProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

__all__ = ["Budget", "ComposedPair", "compose"]

DEFAULT_BUDGET = Budget()
MOST_ROUNDS = 10**10
_FAR_BELOW = 0.3
"""Share of a target's log δ by which an estimate is below it for certain, or nearly."""


@dataclass(frozen=True)
class ComposedPair(Pair):
    """A product of pairs that remembers its parts."""

    parts: tuple[tuple[Pair, int], ...] = ()

    def epsilon(self, log_delta: float) -> Interval:
        """The larger of both orders; one whose δ meets the target at the other's ε is not searched."""
        orders = [order for order in self.orders() if isinstance(order, ComposedProfile)]
        guesses = [order.guess(log_delta) for order in orders]
        found = Interval(0.0, 0.0)
        for place in sorted(range(len(orders)), key=lambda place: -guesses[place].epsilon):
            if found.upper > 0.0 and orders[place].upper_end(found.upper) <= log_delta:
                continue
            ends = epsilon_of(orders[place], log_delta, guesses[place])
            found = Interval(max(found.lower, ends.lower), max(found.upper, ends.upper))
        return found

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The larger of both orders; of one whose upper end is at most the other's lower one no other end is read."""
        points = np.asarray(epsilon, dtype=np.float64)
        ends = np.asarray([self._ends_at(point) for point in points.ravel().tolist()]).reshape(*points.shape, 2)
        return Enclosure(ends[..., 0], ends[..., 1])

    def _ends_at(self, epsilon: float) -> Interval:
        lower, upper = -math.inf, -math.inf
        for order in self.orders():
            if lower > -math.inf and upper_end_of(order, epsilon) <= lower:
                continue
            ends = order.log_delta(np.asarray([epsilon]))
            lower, upper = max(lower, float(ends.lower[0])), max(upper, float(ends.upper[0]))
        return Interval(lower, min(upper, 0.0))

    def upper_epsilon(self, log_delta: float) -> float:
        """The upper end alone, searched in the same way."""
        orders = [order for order in self.orders() if isinstance(order, ComposedProfile)]
        guesses = [order.guess(log_delta) for order in orders]
        found = 0.0
        for place in sorted(range(len(orders)), key=lambda place: -guesses[place].epsilon):
            if found == 0.0 or orders[place].upper_end(found) > log_delta:
                found = max(found, upper_epsilon_of(orders[place], log_delta, guesses[place]))
        return found

    def lower_epsilon(self, log_delta: float, near: float = 0.0) -> float:
        """The lower end alone: 0 without a search where a bound that costs nothing meets the target at ε = 0.

        An order whose δ is likely to meet the target at what another has found is not searched.
        """
        orders = [order for order in self.orders() if isinstance(order, ComposedProfile)]
        if all(order.coupled_meets(log_delta) for order in orders):
            return 0.0
        guesses = [order.guess(log_delta) for order in orders]
        found = 0.0
        for place in sorted(range(len(orders)), key=lambda place: -guesses[place].epsilon):
            if not (found > 0.0 and _is_below(orders[place], found, log_delta)):
                found = max(found, lower_epsilon_of(orders[place], log_delta, guesses[place], near))
        return found

    def likely_meets(self, epsilon: float, log_delta: float) -> bool:
        """By an estimate that is far below the target, or by the first tilt of each order: to search no further."""
        orders = [order for order in self.orders() if isinstance(order, ComposedProfile)]
        return all(_is_below(order, epsilon, log_delta) for order in orders)


def _is_below(order: ComposedProfile, epsilon: float, log_delta: float) -> bool:
    """Whether an order need not be searched for a lower end above ε: an estimate of its δ, or a quick end, says so.

    To leave a search out is safe, as what it would find is one of several lower ends.
    """
    if order.likely_log_delta(epsilon) < log_delta - _FAR_BELOW * (1.0 - log_delta):
        return True
    return -math.inf < order.quick_upper_end(epsilon) <= log_delta


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
    limit = budget.parts
    # One more than fit is enough to refuse: whether a pair has no loss may take long to see.
    losing = ((pair, count) for pair, count in merged.values() if count > 0 and not _lossless(pair))
    kept = tuple(itertools.islice(losing, limit + 1))
    rounds = sum(count for _, count in kept)
    if rounds > MOST_ROUNDS:
        raise BeyondBudget(
            f"{rounds:g} rounds are more than the {MOST_ROUNDS:g} that can be composed without a closed form",
            nearest={"rounds": MOST_ROUNDS},
        )
    if len(kept) > limit:
        raise BeyondBudget(
            f"{len(merged)} different pairs are more than the {limit} that can be composed",
            nearest={"different_mechanisms": limit},
        )
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
    """Whether the loss is zero under both laws. δ at ε = 0 is asked first: what else tells may be read off a table.

    A profile of which every evaluation is dear may say by `lossy` that δ of what it bounds is above 0 there.
    """
    if any(getattr(profile, "lossy", False) for profile in pair.orders()):
        return False
    zero = np.zeros(1)
    if any(profile.log_delta(zero).upper[0] > -np.inf for profile in pair.orders()):
        return False
    if any(profile.log_infinite_mass > -np.inf for profile in pair.orders()):
        return False
    return all(bool(np.isneginf(profile.log_tails(zero).log_p[0])) for profile in pair.orders())
