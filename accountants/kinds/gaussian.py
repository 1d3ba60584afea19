"""The Gaussian mechanism, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.quantities import RELATION, Epsilon, NoiseMultiplier, Relation, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Gaussian
from epsilond.accountants.structure import ONE_SUM, sensitivity_factor
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem


@request
class GaussianInputs:
    """One release of the Gaussian mechanism."""

    epsilon: Epsilon
    noise_multiplier: NoiseMultiplier
    relation: Annotated[Relation, RELATION]


def privacy_profile(inputs: GaussianInputs) -> Outputs:
    """Compute upper bounds on δ at ε, and on μ of Gaussian differential privacy, of one release.

    μ is the sensitivity in standard deviations of the noise. δ is that of N(μ, 1) against N(0, 1).

    Args:
        inputs: privacy loss ε, noise multiplier σ (standard deviation of the noise over the norm bound), and
            neighbouring relation.

    Returns:
        `gaussian_dp_mu`, `delta`, and the decimal logarithm of `delta`.
    """
    sensitivity = sensitivity_factor(inputs.relation)
    log_delta = gaussian_pair(sensitivity / inputs.noise_multiplier).log_delta(np.asarray(inputs.epsilon))
    upper = float(log_delta.upper)
    return {
        "gaussian_dp_mu": round_up(Fraction(sensitivity) / Fraction(inputs.noise_multiplier)),
        "delta": math.exp(upper),
        "log10_delta": upper / math.log(10.0),
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
    """Return the guarantee of the Gaussian mechanism: μ-Gaussian differential privacy with μ = sensitivity/σ.

    No test distinguishes neighbours better than N(μ, 1) from N(0, 1). Some neighbours attain this, so the guarantee is
    exact.

    Source: Balle and Wang 2018, Theorem 8.

    Args:
        spec: the mechanism, with its noise multiplier σ.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with the pair N(μ, 1) against N(0, 1) as upper and lower bound.
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
KIND = MechanismKind(
    sentence=(
        "Gaussian noise of noise multiplier {noise_multiplier}"
        " (standard deviation per coordinate over the bound on the ℓ2 norm of one contribution)"
    ).format_map,
    at_noise=lambda noise: Gaussian(noise_multiplier=noise),
)
