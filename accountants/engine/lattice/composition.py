"""The lattice engine: composition of any pairs with known tails.

Each pair's loss is discretised twice on one lattice common to all pairs, once from above and once from below
(`discretise.py`). The cells are dense where the tilted mass is (`grid.py`). The exponentially tilted distributions are
transformed, raised to their counts and integrated against the hockey stick (`spectrum.py`). Tilting keeps relative
accuracy down to δ = 1e-300. Counts enter as powers, so a billion rounds cost as much as one round.

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
"""Largest number of rounds of all parts together: an error of one unit roundoff in each is then 1e-6 of δ."""


def compose(parts: Sequence[tuple[Pair, int]], *, budget: Budget = DEFAULT_BUDGET) -> Pair:
    """Compose pairs on a lattice of losses, each repeated a number of times, in both directions.

    A pair is two distributions P and Q, of the outputs for neighbouring datasets; its hockey-stick divergence bounds
    δ. Each direction of the answer is the profile ε ↦ δ(ε) of the product, for P against Q and for Q against P.

    k copies of a pair in the list are equivalent to one part of count k, and the order of the parts does not matter.
    A composed pair in the list is replaced by its parts, so no accuracy is lost.

    Args:
        parts: pairs, and the number of times ≥ 0 that each is run.
        budget: limits on the work for one δ.

    Returns:
        The composed pair. A single pair that is run once is returned itself.

    Raises:
        BeyondBudget: there are more than `budget.parts` different pairs, or more than `MOST_ROUNDS` rounds.

    Guarantees:
        If the tails, enclosures and infinite masses of all pairs satisfy the promises of `Profile`, `log_delta` of each
        direction encloses that of the product at every ε ≥ 0. The width of an enclosure is the sum of all its error
        bounds. No bound is NaN. The tails are those of a pair that dominates the product
        (`ComposedProfile.log_tails`).
    """
    different_pairs = _merge_equal_pairs(parts)
    # The test for a loss may be expensive, so it stops at one pair more than the limit.
    lossy_parts = ((pair, count) for pair, count in different_pairs if count > 0 and not _is_lossless(pair))
    factors = tuple(itertools.islice(lossy_parts, budget.parts + 1))
    rounds = sum(count for _, count in factors)
    if rounds > MOST_ROUNDS:
        raise BeyondBudget(
            f"{rounds:g} rounds are more than the {MOST_ROUNDS:g} that can be composed without a closed form",
            nearest={"rounds": MOST_ROUNDS},
        )
    if len(factors) > budget.parts:
        raise BeyondBudget(
            f"{len(different_pairs)} different pairs are more than the {budget.parts} that can be composed",
            nearest={"different_mechanisms": budget.parts},
        )
    # Without any loss, δ is zero at every ε.
    if not factors:
        zero = ZeroProfile()
        return Pair(zero, zero)
    first_pair, first_count = factors[0]
    if len(factors) == 1 and first_count == 1:
        return first_pair
    return _build_product(factors, budget)


def _merge_equal_pairs(parts: Sequence[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """Return each different pair once, with the sum of its counts. Composed pairs are replaced by their parts.

    Args:
        parts: pairs, and the number of times that each is run.

    Returns:
        The different pairs with their total counts.
    """
    pairs_and_counts: dict[object, tuple[Pair, int]] = {}
    for pair, count in unfold(parts):
        key = _comparison_key(pair)
        _, previous_count = pairs_and_counts.get(key, (pair, 0))
        pairs_and_counts[key] = (pair, count + previous_count)
    return list(pairs_and_counts.values())


def _build_product(parts: tuple[tuple[Pair, int], ...], budget: Budget) -> Pair:
    """Build the pair of a composition on a lattice. Both directions share one profile if every part is symmetric.

    Args:
        parts: different pairs with positive losses, and the number of times that each is run.
        budget: limits on the work for one δ.

    Returns:
        The pair. Its profiles compute δ only when they are evaluated.
    """
    forward_parts = tuple(LatticePart(pair.forward, pair.backward, count) for pair, count in parts)
    forward = ComposedProfile(forward_parts, budget)
    is_symmetric = all(pair.symmetric for pair, _ in parts)
    if is_symmetric:
        return Pair(forward, forward, parts=parts, special_search=LatticeSearch((forward,)))
    # For Q against P, the two profiles of each part are exchanged.
    backward_parts = tuple(LatticePart(pair.backward, pair.forward, count) for pair, count in parts)
    backward = ComposedProfile(backward_parts, budget)
    return Pair(forward, backward, parts=parts, special_search=LatticeSearch((forward, backward)))


def _comparison_key(pair: Pair) -> object:
    """Return a key that is equal for equal pairs: the pair, or its identity if it cannot be hashed."""
    try:
        hash(pair)
    except TypeError:
        return id(pair)
    return pair


def _is_lossless(pair: Pair) -> bool:
    """Return whether the privacy loss of a pair is always zero, so that the pair does not count in a composition.

    Args:
        pair: two distributions of outputs for neighbouring datasets, with a profile ε ↦ δ(ε) in each direction.

    Returns:
        True if, in both directions, δ is 0 at every ε and the upper bound on the probability of a positive loss is 0.
    """
    # The cheap tests come first: a known δ(0) > 0, then an evaluation of δ(0). Tails may need an expensive table.
    if any(profile.lossy for profile in pair.directions()):
        return False
    zero = np.zeros(1)
    if any(profile.log_delta(zero).upper[0] > -np.inf for profile in pair.directions()):
        return False
    if any(profile.log_infinite_mass > -np.inf for profile in pair.directions()):
        return False
    # The tail at 0 is P(L > 0).
    return all(bool(np.isneginf(profile.log_tails(zero).log_p[0])) for profile in pair.directions())
