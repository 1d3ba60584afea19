"""Sampling with replacement for Gaussian noise, where the number of times that a record is drawn is partly hidden.

The batch has K draws. Let b be the set of those that are the record, w_b its probability, and η = P(b ≠ ∅). The other
draws are given. Then the centred outputs of both data sets are:

    (1 − η) R + η P₁ and (1 − η) R + η Q₁,   P₁ = Σ π_b N(m_b, I),  Q₁ = Σ π_b N(m'_b, I),  R = N(0, I),  π_b = w_b/η.

Here x and x' are the contributions of the record and of its replacement. The record that draw i would be otherwise
contributes y_i. m_b is the sum of x − y_i over the draws in b, and m'_b that of x' − y_i. Let γ = 1 + (α − 1)/η and
β = α/γ. Then:

    E_α = η E_γ(P₁ ‖ (1 − β) R + β Q₁) ≤ η ((1 − β) E_γ(P₁ ‖ R) + β E_γ(P₁ ‖ Q₁)).

*The first divergence.* Let r_k be k times the largest norm of x − y. Then ⟨m_b, m_c⟩ ≤ r_|b| r_|c| for all b and c. By
Kahane's inequality E_γ(P₁‖R) is at most its value for the means r_|b| on one line, in any dimension.

*The second.* Let d_k be k times the largest norm of x − x'. By joint convexity E_γ(P₁‖Q₁) is at most
Σ π_b E_γ(N(d_|b|, 1) ‖ N(0, 1)). By joint convexity again, the bound holds for the mean over the other draws. ∎

The bound of Balle, Barthe and Gaboardi 2018, Theorem 10, has the second sum in the place of both divergences. It is the
larger one if d_k = r_k. Both bounds agree at ε = 0, where opposite contributions attain them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.bound import BoundProfile
from epsilond.accountants.profiles.drawn_sums import DrawnSumBound
from epsilond.accountants.structure import NO_ORDER, SECRET_DRAW
from epsilond.accountants.theorem import Source, Status, Theorem
from epsilond.accountants.theorems.sampling.multiplicities import (
    MOST_ERROR,
    NEGLIGIBLE_LOG_WEIGHT,
    Multiplicities,
    round_probabilities,
)
from epsilond.accountants.theorems.sampling.zeroed_batches import ZeroedDrawsBound

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation

UNSEEN_MULTIPLICITIES = Theorem(
    id="epsilond.unseen-multiplicities",
    title="Sampling with replacement of the Gaussian mechanism",
    statement=(
        "A record is drawn k times with probability w_k, η = Σ w_k, γ = 1 + (e^ε' − 1)/η and β = e^ε'/γ. Then "
        "δ'(ε') = (1 − β) E_γ(Σ w_k N(r_k, σ²) ‖ η N(0, σ²)) + β Σ w_k E_γ(N(d_k, σ²) ‖ N(0, σ²)). A batch with "
        "the record k times is at most r_k from one without it, and at most d_k from one with its replacement"
    ),
    source=Source("epsilond", "by Kahane's inequality and joint convexity; proof in this file"),
    status=Status.PROVED,
    conditions=(SECRET_DRAW, NO_ORDER),
)


def unseen_multiplicities_pair(drawn: Multiplicities, shift: float, relation: Relation) -> Pair | None:
    """Return two distributions that dominate a Gaussian noisy sum over a batch drawn with replacement.

    Dominating means that their hockey-stick divergence bounds δ. A record may be drawn several times. The observer does
    not see how often, which lowers δ. Under replace-one, two contributions are at most twice the norm of a contribution
    apart. Under zero-out-one, the zeroed record is at most one norm from every other contribution, so the two
    directions differ.

    Args:
        drawn: distribution of the number of times that the record is drawn.
        shift: norm of one contribution, in standard deviations of the noise.
        relation: replace-one or zero-out-one.

    Returns:
        The pair. None if the record is always drawn, or if the probabilities of the numbers of draws are not known
        within `MOST_ERROR`.
    """
    is_always_drawn = drawn.rate >= 1.0
    if is_always_drawn or drawn.accuracy >= MOST_ERROR:
        return None
    # A replaced contribution moves by twice its norm, and both directions have the same bound.
    if relation == "replace-one":
        profile = BoundProfile(_bound(drawn, 2.0 * shift, 2.0 * shift))
        return Pair(profile, profile)

    # A smaller probability of not being drawn raises the bound, so it is rounded down. Its logarithm has an error of up
    # to `accuracy`.
    absent = math.exp(drawn.log_absent) * (1.0 - 2.0 * drawn.accuracy - 16 * UNIT_ROUNDOFF)
    forward = ZeroedDrawsBound(_bound(drawn, 2.0 * shift, shift), absent)
    backward = _bound(drawn, shift, shift)
    return Pair(BoundProfile(forward), BoundProfile(backward))


def _bound(drawn: Multiplicities, from_others: float, from_replacement: float) -> DrawnSumBound:
    """Return the bound on δ of sampling with replacement in one direction, with probabilities and shifts rounded up.

    If the record is drawn k times, the sum moves by k times a distance of two contributions. Values of k are in groups,
    and the largest k of a group counts for all of it.

    Args:
        drawn: distribution of the number of times that the record is drawn.
        from_others: largest distance of the record from any other one, in standard deviations of the noise.
        from_replacement: largest distance of the record from its replacement, in the same unit.

    Returns:
        The bound, as a function of ε that is evaluated later.
    """
    probability_of = dict(zip(drawn.most, larger_multiplicities(drawn), strict=True))
    possible = {times: probability for times, probability in probability_of.items() if probability > 0.0}
    log_probabilities = [math.log(probability) for probability in possible.values()]
    # The factors with `UNIT_ROUNDOFF` exceed the rounding errors.
    shifts = [from_others * times * (1.0 + 4 * UNIT_ROUNDOFF) for times in possible]
    # `replaced_shifts` has an entry for every group, as `log_weights` has. `log_rest` bounds the log-probability of the
    # numbers of draws that were left out as negligible.
    return DrawnSumBound(
        rate=drawn.rate * (1.0 + 32 * UNIT_ROUNDOFF),
        log_probabilities=tuple(log_probabilities),
        shifts=tuple(shifts),
        log_weights=drawn.log_weights,
        replaced_shifts=tuple(from_replacement * times for times in drawn.most),
        accuracy=drawn.accuracy,
        log_rest=NEGLIGIBLE_LOG_WEIGHT + 1.0,
    )


def larger_multiplicities(drawn: Multiplicities) -> tuple[float, ...]:
    """Return the probabilities of the number of draws of a record, given that it is drawn, for upper bounds on δ.

    The probabilities are rounded so that this number becomes stochastically larger, which raises the bound
    (docs/engine-certificate.md, A10).

    Args:
        drawn: distribution of the number of times that the record is drawn.

    Returns:
        One probability for each group of numbers of draws, in increasing order of the numbers.
    """
    log_rate = math.log(drawn.rate)
    # The division by the probability of being drawn adds rounding errors, some of the size of its logarithm.
    accuracy = drawn.accuracy + UNIT_ROUNDOFF * (16.0 + 8.0 * abs(log_rate))
    log_probabilities = [weight - log_rate for weight in drawn.log_weights]
    return round_probabilities(log_probabilities, accuracy, upward=True)


THEOREMS: tuple[Theorem, ...] = (UNSEEN_MULTIPLICITIES,)
