"""Permute-and-flip: exact for one release, with lower and upper bounds for many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.profiles.selection.bounded_range import two_outcome_pair
from epsilond.accountants.quantities import Epsilon, delta_outputs
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import PermuteAndFlip
from epsilond.accountants.specs.selection.two_candidates import log_ratio
from epsilond.accountants.structure import ANY_SCORES
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.theorem import Step


@formula(given="Permute-and-flip, and the ε' at which δ is computed.")
def privacy_profile(*, epsilon: Epsilon, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute δ at ε' of one release of permute-and-flip: (1 − e^{(ε' − ε)/2})₊.

    This is δ of Laplace noise against the same noise shifted by ε scales (docs/selection.md).

    Args:
        epsilon: ε of the mechanism, in nats.
        at_epsilon: ε' at which δ is computed, in nats.

    Returns:
        δ with its decimal logarithm, rounded up.
    """
    log_delta = laplace_pair(epsilon).log_delta(np.asarray([at_epsilon])).upper
    return delta_outputs(float(log_delta[0]))


EXPONENTIAL_NOISE = Theorem(
    id="epsilond.permute-and-flip",
    title="Permute-and-flip, exactly",
    statement=(
        "It is the candidate with the largest score after exponential noise of scale 2/ε. The pair of Laplace noise at "
        "distance ε dominates it, so δ(ε') ≤ (1 − e^{(ε' − ε)/2})₊, which two candidates attain at each ε'"
    ),
    source=Source("epsilond", "docs/selection.md, Noise with an exponential tail"),
    status=Status.PROVED,
    conditions=(ANY_SCORES,),
    formula=privacy_profile,
    examples=({"epsilon": 1.0, "at_epsilon": 0.5}, {"epsilon": 5.0, "at_epsilon": 0.0}),
)


def exponential_noise_guarantee(epsilon: float, step: Step, case: Case, *, is_whole_question: bool) -> Guarantee:
    """Return the guarantee of choosing the candidate with the largest score after exponential noise.

    One release is exact: at each ε' some neighbours attain the bound. As a part of a larger spec, the mechanism has
    lower bounds from pairs of distributions that two neighbours attain at every ε'. These pairs can be composed and
    subsampled.

    Args:
        epsilon: ε of the choice, in nats.
        step: derivation that proves the upper bound.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.
        is_whole_question: whether the guarantee is the answer itself, and not a part of a larger spec.

    Returns:
        The guarantee, on the condition that scores change by at most their sensitivity.
    """
    pair = laplace_pair(epsilon)
    attained = _attained_pairs(epsilon)
    if is_whole_question:
        attained = (pair, *attained)
    curve = Curve(pair, attained, pointwise=is_whole_question)
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(ANY_SCORES,))


def _attained_pairs(epsilon: float) -> tuple[Pair, ...]:
    """Return two attained pairs for lower bounds on δ: neighbours with two candidates and exponential noise.

    In the first pair, the scores of the candidates differ by 1 and are exchanged. In the second, they are equal on one
    data set, and one candidate is behind by 2 on the other. Its choice has the largest possible loss, ε.

    Args:
        epsilon: privacy parameter ε > 0 of the choice, in nats.

    Returns:
        The pair of exchanged scores, and the pair of equal and unequal scores.
    """
    symmetric = response_pair(log_ratio(epsilon, "exponential"), 2)
    # The candidate in front is chosen with probability 1 − e^{−ε}/2, and with 1/2 at equal scores.
    log_half = -math.log(2.0)
    log_equal = (log_half, log_half)
    log_unequal = (math.log1p(-0.5 * math.exp(-epsilon)), log_half - epsilon)
    least_loss = -math.log1p(-math.expm1(-epsilon))  # log of 1/2 over 1 − e^{−ε}/2
    return symmetric, two_outcome_pair((least_loss, epsilon), log_equal, log_unequal)


def permute_and_flip(spec: PermuteAndFlip, case: Case) -> Guarantee:
    """Return the guarantee of permute-and-flip in the relation of the request.

    The mechanism chooses the candidate with the largest score after exponential noise.

    Args:
        spec: specification of the mechanism, with ε.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, exact for one release.
    """
    step = EXPONENTIAL_NOISE.because(epsilon=spec.epsilon)
    return exponential_noise_guarantee(spec.epsilon, step, case, is_whole_question=case.root == spec)


THEOREMS: tuple[Theorem, ...] = (EXPONENTIAL_NOISE,)
RULES: tuple[Rule, ...] = (Rule(EXPONENTIAL_NOISE, "permute_and_flip", permute_and_flip),)
KIND = MechanismKind(
    sentence="permute-and-flip with ε = {epsilon} on scores of sensitivity 1".format_map,
    at_noise=lambda noise: PermuteAndFlip(epsilon=1.0 / noise),
)
