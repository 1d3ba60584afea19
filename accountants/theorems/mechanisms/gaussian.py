"""The Gaussian mechanism, exactly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np

from epsilond.accountants.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import RELATION, Epsilon, NoiseMultiplier, Relation, request
from epsilond.accountants.structure import ONE_SUM
from epsilond.accountants.theorem import Case, Outputs, Rule, Source, Status, Theorem

if TYPE_CHECKING:
    from epsilond.accountants.specs import Gaussian


def sensitivity_factor(relation: Relation) -> float:
    """The ℓ2 sensitivity of a sum of contributions of norm at most C, in units of C.

    A ball's diameter for replace-one, its radius where a contribution is added, removed or zeroed.
    """
    return 2.0 if relation == "replace-one" else 1.0


@request
class GaussianInputs:
    """One release of the Gaussian mechanism."""

    epsilon: Epsilon
    noise_multiplier: NoiseMultiplier
    relation: Annotated[Relation, RELATION]


def privacy_profile(inputs: GaussianInputs) -> Outputs:
    """δ at ε, and the parameter μ of Gaussian differential privacy, of one release."""
    mu = sensitivity_factor(inputs.relation) / inputs.noise_multiplier
    log_delta = gaussian_pair(mu).log_delta(np.asarray(inputs.epsilon))
    return {
        "gaussian_dp_mu": mu,
        "delta": math.exp(float(log_delta.upper)),
        "log10_delta": float(log_delta.upper) / math.log(10.0),
    }


EXACT = Theorem(
    id="balle-wang-2018.8",
    title="The Gaussian mechanism, exactly",
    statement="δ(ε) = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ) for ℓ2 sensitivity Δ and noise N(0, σ²) per coordinate",
    source=Source("balle2018analytic", "Theorem 8"),
    status=Status.PROVED,
    conditions=(ONE_SUM,),
    inputs=GaussianInputs,
    formula=privacy_profile,
    examples=({"epsilon": 1.0, "noise_multiplier": 4.0, "relation": "add-or-remove-one"},),
)


def gaussian_mechanism(spec: Gaussian, case: Case) -> Guarantee:
    """μ-Gaussian differential privacy with μ = sensitivity/σ, attained by two contributions at that distance.

    Source: Balle and Wang 2018, Theorem 8.
    """
    mu = sensitivity_factor(case.setting.relation) / spec.noise_multiplier
    pair = gaussian_pair(mu)
    return Guarantee(
        setting=case.setting,
        curve=Curve(pair, (pair,)),
        derivation=EXACT.because(noise_multiplier=spec.noise_multiplier, gaussian_dp_mu=mu),
        declared=(ONE_SUM,),
    )


THEOREMS: tuple[Theorem, ...] = (EXACT,)
RULES: tuple[Rule, ...] = (Rule(EXACT, "gaussian", gaussian_mechanism),)
