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

    Guarantees: let the pairs' tails, enclosures and infinite masses satisfy the promises of `Profile`. Then `log_delta`
    of each direction of the answer encloses that of the product of exactly these pairs at every ε ≥ 0. The width of an
    enclosure is the sum of all its error bounds; no bound is NaN. Composing a composed pair again composes its parts,
    so no accuracy is lost. The tails of the answer are those of a pair that dominates the product (see
    `ComposedProfile.log_tails`).

    Equivalent lists: k copies in a list equal one part of count k; the order of the parts does not matter; parts
    without loss do not count.

    Args:
        parts: pairs, and the number of times ≥ 0 that each is run.
        budget: limits on the work for one δ.

    Returns:
        The composed pair. A single pair that is run once is returned itself.

    Raises:
        BeyondBudget: there are more different pairs, or more rounds, than the engine can compose.
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
    # No pair has a loss: δ is zero at every ε.
    if not factors:
        zero = ZeroProfile()
        return Pair(zero, zero)
    # One pair that is run once needs no composition.
    first_pair, first_count = factors[0]
    if len(factors) == 1 and first_count == 1:
        return first_pair
    return _product(factors, budget)


def _merge_equal_pairs(parts: Sequence[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """Return each different pair once, with the sum of its counts. Composed pairs are replaced by their parts.

    Args:
        parts: pairs (two distributions of outputs each), and the number of times that each is run.

    Returns:
        The different pairs with their total counts.
    """
    # Pairs with the same key have the same profiles, so that their counts can be added.
    pairs_and_counts: dict[object, tuple[Pair, int]] = {}
    for pair, count in unfold(parts):
        key = _comparison_key(pair)
        _, previous_count = pairs_and_counts.get(key, (pair, 0))
        pairs_and_counts[key] = (pair, count + previous_count)
    return list(pairs_and_counts.values())


def _product(parts: tuple[tuple[Pair, int], ...], budget: Budget) -> Pair:
    """Return the pair of a composition on a lattice. Both directions share one profile if every part is symmetric.

    Args:
        parts: pairs (two distributions of outputs each), and the number of times that each is run.
        budget: limits on the work for one δ.

    Returns:
        The pair. Its profiles compute δ only when they are evaluated.
    """
    # Direction P against Q.
    forward_parts = tuple(LatticePart(pair.forward, pair.backward, count) for pair, count in parts)
    forward = ComposedProfile(forward_parts, budget)
    is_symmetric = all(pair.symmetric for pair, _ in parts)
    if is_symmetric:
        return Pair(forward, forward, parts=parts, special_search=LatticeSearch((forward,)))
    # Direction Q against P: the two profiles of each part exchange places.
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

    δ at ε = 0 is evaluated first, because infinite masses and tails may need a table. A profile with expensive
    evaluations may state by `lossy` that δ is above 0 there.

    Args:
        pair: two distributions of outputs for neighbouring datasets, with a profile ε ↦ δ(ε) in each direction.

    Returns:
        True if δ is 0 in both directions, and no loss is infinite or above 0.
    """
    if any(profile.lossy for profile in pair.directions()):
        return False
    # δ(0) > 0 in a direction means that there is a loss.
    zero = np.zeros(1)
    if any(profile.log_delta(zero).upper[0] > -np.inf for profile in pair.directions()):
        return False
    # An infinite loss must have the probability 0 in both directions.
    if any(profile.log_infinite_mass > -np.inf for profile in pair.directions()):
        return False
    # The same holds for a positive finite loss: P(L > 0) must be 0 in both directions.
    return all(bool(np.isneginf(profile.log_tails(zero).log_p[0])) for profile in pair.directions())
