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
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.pair import Pair, unfold
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.search import LatticeSearch
from epsilond.accountants.engine.lattice.survey import LatticePart
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.profiles.gaussian import ZeroProfile

if TYPE_CHECKING:
    from collections.abc import Sequence


DEFAULT_BUDGET = Budget()
MOST_ROUNDS = 10**10
"""Rounds of all parts together: an error of one unit of roundoff in each is then 1e-6 of δ."""


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
    for pair, count in unfold(parts):
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


def _product(parts: tuple[tuple[Pair, int], ...], budget: Budget) -> Pair:
    forward = ComposedProfile(tuple(LatticePart(pair.forward, pair.backward, count) for pair, count in parts), budget)
    if all(pair.symmetric for pair, _ in parts):
        return Pair(forward, forward, parts=parts, special_search=LatticeSearch((forward,)))
    backward = ComposedProfile(tuple(LatticePart(pair.backward, pair.forward, count) for pair, count in parts), budget)
    return Pair(forward, backward, parts=parts, special_search=LatticeSearch((forward, backward)))


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
    if any(profile.lossy for profile in pair.directions()):
        return False
    zero = np.zeros(1)
    if any(profile.log_delta(zero).upper[0] > -np.inf for profile in pair.directions()):
        return False
    if any(profile.log_infinite_mass > -np.inf for profile in pair.directions()):
        return False
    return all(bool(np.isneginf(profile.log_tails(zero).log_p[0])) for profile in pair.directions())
