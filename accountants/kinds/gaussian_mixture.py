"""Gaussian noise on contributions of random size: exact in both directions, for every neighbouring relation.

Proof: docs/mixtures.md, One line is worst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import GaussianMixtureLaw
from epsilond.accountants.curve.mixture_laws import round_shifts
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.weighted_groups import gaussian_mixture_pair
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import GaussianMixture
from epsilond.accountants.theorem import Condition, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.quantities import Relation

RANDOM_CONTRIBUTION = Condition(
    "random-contributions",
    "noise is added to a sum. In every release each protected unit draws an index afresh, with the stated "
    "probabilities and independently of the data and of other units. It adds one contribution of at most the norm that "
    "belongs to this index, for any contributions of the others. The index is not seen. A unit that is absent, not "
    "drawn or zeroed adds exactly zero. The noise is the same with and without it",
)
"""Condition on contributions of random size, which the caller declares."""

ONE_LINE = Theorem(
    id="epsilond.gaussian-mixture",
    title="Gaussian noise on contributions of random size, exactly",
    statement=(
        "A contribution has norm at most s_i with probability p_i. Adding, removing or zeroing it is dominated in both "
        "directions by Σ p_i N(s_i, σ²) against N(0, σ²). Replacing it is dominated by Σ p_i N(s_i, σ²) against "
        "Σ p_i N(−s_i, σ²). Contributions on one line attain both"
    ),
    source=Source("epsilond", "docs/mixtures.md, One line is worst"),
    status=Status.PROVED,
    conditions=(RANDOM_CONTRIBUTION,),
)


def random_sum_pairs(spec: GaussianMixture, relation: Relation) -> tuple[Pair, Pair]:
    """Return pairs for Gaussian noise on a contribution of random size, with shifts rounded up and down to doubles.

    The output is a mixture of Gaussians, one for each size. A shift is a size in standard deviations of the noise. A
    larger shift makes the pair easier to distinguish.

    Args:
        spec: the mechanism, with the sizes (sensitivities) and their probabilities.
        relation: neighbouring relation, such as "replace-one".

    Returns:
        A pair of distributions for upper bounds on δ, and a pair for lower bounds. They are one object if nothing is
        rounded.
    """
    direction: Direction = "replace" if relation == "replace-one" else "remove"
    larger_shifts = round_shifts(spec.sensitivities, spec.noise_multiplier, upward=True)
    smaller_shifts = round_shifts(spec.sensitivities, spec.noise_multiplier, upward=False)
    larger = GaussianMixtureLaw(larger_shifts, spec.probabilities, direction)
    smaller = GaussianMixtureLaw(smaller_shifts, spec.probabilities, direction)
    upper = gaussian_mixture_pair(larger)
    attained = upper if smaller == larger else gaussian_mixture_pair(smaller)
    return upper, attained


def random_sum(spec: GaussianMixture, case: Case) -> Guarantee:
    """Return the guarantee of Gaussian noise on contributions of random size.

    Some neighbours attain it, so upper and lower bounds on δ only differ by rounding.

    Args:
        spec: specification of the mechanism, with the sizes and their probabilities.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the sizes are drawn as stated.
    """
    upper, attained = random_sum_pairs(spec, case.setting.relation)
    return Guarantee(
        setting=case.setting,
        curve=Curve(upper, (attained,)),
        derivation=ONE_LINE.because(
            noise_multiplier=spec.noise_multiplier,
            sensitivities=list(spec.sensitivities),
            probabilities=list(spec.probabilities),
        ),
        declared=(RANDOM_CONTRIBUTION,),
    )


THEOREMS: tuple[Theorem, ...] = (ONE_LINE,)
RULES: tuple[Rule, ...] = (Rule(ONE_LINE, "gaussian_mixture", random_sum),)
KIND = MechanismKind(
    sentence=(
        "Gaussian noise of noise multiplier {noise_multiplier}"
        " (standard deviation per coordinate over C) on contributions of random size:"
        " an ℓ2 norm of at most {sensitivities} times C, with the probabilities {probabilities}"
    ).format_map,
    at_noise=lambda noise: GaussianMixture(
        sensitivities=(0.0, 1.0, 2.0), probabilities=(0.5, 0.25, 0.25), noise_multiplier=noise
    ),
)
