"""The Laplace mechanism, exactly, in any dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.quantities import (
    RELATION,
    Epsilon,
    Relation,
    ScaleMultiplier,
    delta_outputs,
    request,
)
from epsilond.accountants.structure import ONE_SUM
from epsilond.accountants.theorem import Case, Outputs, Rule, Source, Status, Theorem
from epsilond.accountants.theorems.mechanisms.gaussian import sensitivity_factor

if TYPE_CHECKING:
    from epsilond.accountants.specs import Laplace


@request
class LaplaceInputs:
    """One release of the Laplace mechanism."""

    epsilon: Epsilon
    scale_multiplier: ScaleMultiplier
    relation: Annotated[Relation, RELATION]


def privacy_profile(inputs: LaplaceInputs) -> Outputs:
    """δ at ε of one release, and the ε at which it is 0."""
    shift = sensitivity_factor(inputs.relation) / inputs.scale_multiplier
    upper = float(laplace_pair(shift).log_delta(np.asarray(inputs.epsilon)).upper)
    return {"pure_epsilon": shift, **delta_outputs(upper)}


EXACT = Theorem(
    id="epsilond.laplace",
    title="The Laplace mechanism, exactly",
    statement=(
        "δ(ε) = (1 − e^{(ε − s)/2})₊ with s the ℓ1 sensitivity over the scale, whatever the dimension: among all "
        "shifts of that ℓ1 norm the one along an axis is worst at every ε"
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
    """Two Laplace laws at the sensitivity's distance, which two contributions along one axis realise.

    Source: docs/shifted-noise.md.
    """
    shift = sensitivity_factor(case.setting.relation) / spec.scale_multiplier
    pair = laplace_pair(shift)
    return Guarantee(
        setting=case.setting,
        curve=Curve(pair, (pair,)),
        derivation=EXACT.because(scale_multiplier=spec.scale_multiplier, pure_epsilon=shift),
        declared=(ONE_SUM,),
    )


THEOREMS: tuple[Theorem, ...] = (EXACT,)
RULES: tuple[Rule, ...] = (Rule(EXACT, "laplace", laplace_mechanism),)
