"""The exponential mechanism: exact for one release, with lower and upper bounds for many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import least_of
from epsilond.accountants.formula import formula
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.declared.approximate import AT_EPSILON
from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.profiles.selection.bounded_range import bounded_range_pair, largest_loss_pair
from epsilond.accountants.quantities import Epsilon, delta_outputs
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Exponential
from epsilond.accountants.structure import ANY_SCORES, ONE_DIRECTION
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.theorem import Step


@formula(given="The exponential mechanism, and the ε' at which δ is computed.")
def privacy_profile(*, epsilon: Epsilon, at_epsilon: Annotated[float, AT_EPSILON]) -> Outputs:
    """Compute δ at ε' of one release of the exponential mechanism, and ρ of zero-concentrated privacy.

    Its losses are in an interval of length ε. The largest δ of such a mechanism is
    (1 − e^{(ε' − ε)/2})²/(1 − e^{−ε}), and ρ is ε²/8 (docs/selection.md).

    Args:
        epsilon: ε of the mechanism, in nats.
        at_epsilon: ε' at which δ is computed, in nats.

    Returns:
        `zcdp_rho`, and δ with its decimal logarithm, all rounded up.
    """
    log_delta = bounded_range_pair(epsilon).log_delta(np.asarray([at_epsilon])).upper
    return {"zcdp_rho": concentration(epsilon), **delta_outputs(float(log_delta[0]))}


def concentration(epsilon: float) -> float:
    """Return ρ = ε²/8 of the zero-concentrated privacy of ε-bounded-range mechanisms, rounded up."""
    return 0.125 * epsilon * epsilon * (1.0 + 4 * UNIT_ROUNDOFF)


def bounded_range_concentration(epsilon: float) -> Concentration:
    """Return the ε²/8-zero-concentrated privacy of ε-bounded-range mechanisms, without rounding."""
    return Concentration(rho=Fraction(epsilon) ** 2 / 8)


BOUNDED_RANGE = Theorem(
    id="epsilond.bounded-range",
    title="The exponential mechanism, exactly",
    statement=(
        "Its losses lie in an interval of length ε. Over all such mechanisms the largest δ(ε') is "
        "(1 − e^{(ε' − ε)/2})²/(1 − e^{−ε}), which two candidates attain at each ε'. It is the profile of one pair, so "
        "products of this pair dominate adaptive compositions. So does ε²/8-zCDP"
    ),
    source=Source("epsilond", "docs/selection.md, Bounded range"),
    status=Status.PROVED,
    conditions=(ANY_SCORES, ONE_DIRECTION),
    formula=privacy_profile,
    examples=({"epsilon": 1.0, "at_epsilon": 0.5}, {"epsilon": 0.01, "at_epsilon": 0.0}),
)


def bounded_range_guarantee(epsilon: float, step: Step, case: Case, *, is_whole_question: bool) -> Guarantee:
    """Return the guarantee of a choice with privacy losses in an interval of length ε on any two neighbours.

    One release is exact: at each ε' some neighbours attain the bound, but no two neighbours attain it at every ε'. As a
    part of a larger spec, the mechanism therefore has lower bounds from pairs of distributions that two neighbours
    attain at every ε'. These pairs can be composed and subsampled.

    Args:
        epsilon: ε of the choice, in nats.
        step: derivation that proves the range of the losses.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.
        is_whole_question: whether the guarantee is the answer itself, and not a part of a larger spec.

    Returns:
        The guarantee, on the condition that scores change by at most their sensitivity.
    """
    pair = bounded_range_pair(epsilon)
    attained_pairs = _attained_pairs(epsilon)
    if is_whole_question:
        curve = Curve(pair, (pair, *attained_pairs), pointwise=True)
    else:
        curve = Curve(_upper(epsilon, pair), attained_pairs)
    return Guarantee(setting=case.setting, curve=curve, derivation=step, declared=(ANY_SCORES,))


def _upper(epsilon: float, pair: Pair) -> Pair:
    """Return the least of two upper bounds: by the range of the losses, and by zero-concentrated privacy.

    The first one is exact for one release. The second one is better in compositions.

    Args:
        epsilon: ε of the choice, in nats.
        pair: the pair of distributions that dominates every choice with losses in an interval of length ε.

    Returns:
        The least of both; the given pair if ρ is outside the range of the second bound.
    """
    rho = concentration(epsilon)
    if not LEAST_RHO <= rho <= LARGEST_RHO:
        return pair
    return least_of([pair, concentrated_pair(rho)])


def _attained_pairs(epsilon: float) -> tuple[Pair, ...]:
    """Return pairs of distributions that neighbours with two candidates attain, for lower bounds on δ.

    The first has the largest variance of the loss, with a largest loss of ½ ε. The other two, used for moderate ε, have
    the largest losses ¾ ε and ¹⁵⁄₁₆ ε.

    Args:
        epsilon: ε of the choice, in nats.

    Returns:
        One pair if ε is above `LARGEST_SPLIT`, otherwise three.
    """
    symmetric = response_pair(0.5 * epsilon, 2)
    if epsilon > LARGEST_SPLIT:
        return (symmetric,)
    return symmetric, largest_loss_pair(epsilon, 0.25), largest_loss_pair(epsilon, 0.0625)


LEAST_RHO, LARGEST_RHO = 1e-200, 1e9
"""Range of ρ [nat] in which the bound by zero-concentrated privacy is used; its profile is computed up to 1e9."""
LARGEST_SPLIT = 1e3
"""Largest ε [nat] at which pairs of asymmetric losses are used; beyond it a negative loss is rarer than 1e-27."""


def exponential_mechanism(spec: Exponential, case: Case) -> Guarantee:
    """Return the guarantee of the exponential mechanism in the relation of the request.

    The mechanism chooses a candidate with a probability that grows exponentially with its score. Its privacy losses are
    in an interval of length ε (bounded range).

    Args:
        spec: the mechanism, with ε and whether all scores change in one direction.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with a further condition if all scores change in one direction.
    """
    step = BOUNDED_RANGE.because(epsilon=spec.epsilon, monotonic=spec.monotonic)
    guarantee = bounded_range_guarantee(spec.epsilon, step, case, is_whole_question=case.root == spec)
    if not spec.monotonic:
        return guarantee
    return replace(guarantee, declared=(*guarantee.declared, ONE_DIRECTION))


def sentence(fields: Mapping[str, str]) -> str:
    """Describe the exponential mechanism in words.

    Args:
        fields: values of the spec's fields as text, by name.

    Returns:
        A noun phrase that describes the mechanism.
    """
    words = f"the exponential mechanism with ε = {fields['epsilon']} on scores of sensitivity 1"
    if fields.get("monotonic") != "yes":
        return words
    return f"{words}, which all change in one direction"


THEOREMS: tuple[Theorem, ...] = (BOUNDED_RANGE,)
RULES: tuple[Rule, ...] = (Rule(BOUNDED_RANGE, "exponential", exponential_mechanism),)
KIND = MechanismKind(
    sentence=sentence,
    at_noise=lambda noise: Exponential(epsilon=1.0 / noise),
    concentration=lambda spec: bounded_range_concentration(spec.epsilon),
)
