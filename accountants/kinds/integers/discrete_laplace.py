"""The discrete Laplace (two-sided geometric) mechanism, exactly, in any dimension."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import with_plateau
from epsilond.accountants.curve.plateaus import pure_plateau
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.profiles.geometric import geometric_pair
from epsilond.accountants.quantities import DecayRate, Epsilon, delta_outputs, request
from epsilond.accountants.quantities.mechanisms import IntegerSensitivity
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import DiscreteLaplace
from epsilond.accountants.structure import ANY_INTEGERS
from epsilond.accountants.theorem import Outputs, Source, Status, Theorem


@request
class DiscreteLaplaceInputs:
    """One release of the discrete Laplace mechanism."""

    epsilon: Epsilon
    decay_rate: DecayRate
    sensitivity: IntegerSensitivity


def privacy_profile(inputs: DiscreteLaplaceInputs) -> Outputs:
    """Compute δ at ε of one release of the discrete Laplace mechanism, and the ε from which on δ is 0.

    Args:
        inputs: privacy loss ε, decay rate α of the noise per grid step, and ℓ1 sensitivity Δ in grid steps.

    Returns:
        `pure_epsilon`, which is α Δ, and δ with its decimal logarithm.
    """
    pair = geometric_pair(inputs.decay_rate, inputs.sensitivity)
    log_delta = pair.log_delta(np.asarray(inputs.epsilon))
    pure_epsilon = inputs.decay_rate * inputs.sensitivity
    return {"pure_epsilon": pure_epsilon, **delta_outputs(float(log_delta.upper))}


EXACT = Theorem(
    id="epsilond.discrete-laplace",
    title="The discrete Laplace mechanism, exactly",
    statement=(
        "Noise of P(y) ∝ e^(−α|y|) per coordinate and integer ℓ1 sensitivity Δ: losses α (Δ − 2c), c the noise "
        "clamped to [0, Δ]. Among all integer shifts of that ℓ1 norm the shift along an axis is worst at every ε"
    ),
    source=Source("epsilond", "docs/shifted-noise.md, One axis is worst"),
    status=Status.PROVED,
    conditions=(ANY_INTEGERS,),
    inputs=DiscreteLaplaceInputs,
    formula=privacy_profile,
    examples=({"epsilon": 1.0, "decay_rate": 0.5, "sensitivity": 3},),
)


def discrete_laplace_mechanism(spec: DiscreteLaplace, case: Case) -> Guarantee:
    """Return the guarantee of the discrete Laplace mechanism: its noise compared with the noise shifted by Δ.

    Δ is the ℓ1 sensitivity, which the specification states for the relation of the request. Some neighbours differ by Δ
    on one coordinate, so the guarantee is exact.

    Args:
        spec: specification of the mechanism, with the decay rate of the noise and the integer sensitivity.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, with the same pair as upper and lower bound.
    """
    pure_epsilon = Fraction(spec.decay_rate) * spec.sensitivity
    pair = with_plateau(geometric_pair(spec.decay_rate, spec.sensitivity), pure_plateau(pure_epsilon))
    return Guarantee(
        setting=case.setting,
        curve=Curve(pair, (pair,)),
        derivation=EXACT.because(decay_rate=spec.decay_rate, sensitivity=spec.sensitivity),
        declared=(ANY_INTEGERS,),
    )


THEOREMS: tuple[Theorem, ...] = (EXACT,)
RULES: tuple[Rule, ...] = (Rule(EXACT, "discrete_laplace", discrete_laplace_mechanism),)
KIND = MechanismKind(
    sentence="discrete Laplace noise of decay rate {decay_rate} on integers of ℓ1 sensitivity {sensitivity}".format_map,
    at_noise=lambda noise: DiscreteLaplace(decay_rate=1.0 / noise, sensitivity=3),
)
