"""The Laplace mechanism, exactly, in any dimension."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import with_plateau
from epsilond.accountants.curve.plateaus import pure_plateau
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.quantities import (
    RELATION,
    Epsilon,
    Relation,
    ScaleMultiplier,
    delta_outputs,
    request,
)
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Laplace
from epsilond.accountants.structure import ONE_SUM, sensitivity_factor
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem


@request
class LaplaceInputs:
    """One release of the Laplace mechanism."""

    epsilon: Epsilon
    scale_multiplier: ScaleMultiplier
    relation: Annotated[Relation, RELATION]


def privacy_profile(inputs: LaplaceInputs) -> Outputs:
    """Compute upper bounds on δ at ε of one release, and on the least ε at which δ is 0.

    With s the ℓ1 sensitivity over the scale of the noise, δ(ε) = (1 − e^{(ε − s)/2})₊ (docs/shifted-noise.md).

    Args:
        inputs: privacy loss ε, scale of the noise over the norm bound, and neighbouring relation.

    Returns:
        `pure_epsilon`, which is s, and δ with its decimal logarithm; all rounded up.
    """
    sensitivity = sensitivity_factor(inputs.relation)
    pure_epsilon = round_up(Fraction(sensitivity) / Fraction(inputs.scale_multiplier))
    log_delta = laplace_pair(sensitivity / inputs.scale_multiplier).log_delta(np.asarray(inputs.epsilon))
    return {"pure_epsilon": pure_epsilon, **delta_outputs(float(log_delta.upper))}


EXACT = Theorem(
    id="epsilond.laplace",
    title="The Laplace mechanism, exactly",
    statement=(
        "δ(ε) = (1 − e^{(ε − s)/2})₊ with s the ℓ1 sensitivity over the scale, in every dimension. Among all shifts "
        "of that ℓ1 norm the shift along an axis is worst at every ε"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, One axis is worst"),
    status=Status.PROVED,
    conditions=(ONE_SUM,),
    inputs=LaplaceInputs,
    formula=privacy_profile,
    examples=(
        {"epsilon": 1.0, "scale_multiplier": 0.5, "relation": "add-or-remove-one"},
        {"epsilon": 3.0, "scale_multiplier": 1.0, "relation": "replace-one"},
    ),
)


def laplace_mechanism(spec: Laplace, case: Case) -> Guarantee:
    """Return the guarantee of the Laplace mechanism: its noise compared with the noise shifted by the sensitivity.

    The shift is the sensitivity, in scales of the noise. Some neighbours attain it, so the guarantee is exact.

    Source: docs/shifted-noise.md.

    Args:
        spec: the mechanism, with the scale of the noise over the norm bound of a contribution.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with the same pair as upper and lower bound.
    """
    sensitivity = sensitivity_factor(case.setting.relation)
    shift = sensitivity / spec.scale_multiplier
    # From this rational ε on, δ is exactly 0.
    pure_epsilon = Fraction(sensitivity) / Fraction(spec.scale_multiplier)
    pair = with_plateau(laplace_pair(shift), pure_plateau(pure_epsilon))
    return Guarantee(
        setting=case.setting,
        curve=Curve(pair, (pair,)),
        derivation=EXACT.because(scale_multiplier=spec.scale_multiplier, pure_epsilon=shift),
        declared=(ONE_SUM,),
    )


THEOREMS: tuple[Theorem, ...] = (EXACT,)
RULES: tuple[Rule, ...] = (Rule(EXACT, "laplace", laplace_mechanism),)
KIND = MechanismKind(
    sentence=(
        "Laplace noise of scale multiplier {scale_multiplier}"
        " (scale per coordinate over the bound on the ℓ1 norm of one contribution)"
    ).format_map,
    at_noise=lambda noise: Laplace(scale_multiplier=noise),
)
