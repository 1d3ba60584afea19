"""A mechanism that is known only to be (ε, δ)-differentially private."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.plateaus import Plateau
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import MechanismKind
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.quantities import AnyEpsilon, PureDelta, Quantity, delta_outputs, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Approximate
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

AT_EPSILON = Quantity(symbol="ε'", unit="nat", ge=0, le=1e9, description="ε at which δ is computed")


def approximate_pair(epsilon: float, delta: float) -> Pair:
    """Return the pair of distributions that dominates every (ε, δ)-differentially private mechanism.

    Its hockey-stick divergence at every ε' is at least the δ of the mechanism at ε'. Its privacy loss is infinite with
    probability δ, ε with probability (1 − δ) e^ε/(1 + e^ε), and −ε otherwise. The pair is the same in both directions.

    Args:
        epsilon: privacy parameter ε ≥ 0, in nats. If it is 0, the finite loss is 0.
        delta: probability δ in [0, 1).

    Returns:
        The pair, with its list of losses and the exact (ε, δ).
    """
    # The finite losses with the logarithms of their probabilities, which add up to 1 − δ.
    log_finite_mass = math.log1p(-delta)
    if epsilon == 0.0:
        losses: tuple[float, ...] = (0.0,)
        log_masses: tuple[float, ...] = (log_finite_mass,)
    else:
        log_mass_of_epsilon = log_finite_mass - math.log1p(math.exp(-epsilon))
        losses = (-epsilon, epsilon)
        log_masses = (log_mass_of_epsilon - epsilon, log_mass_of_epsilon)

    log_infinite = -math.inf
    if delta > 0:
        log_infinite = math.log(delta)
        # Rounded up by more than the error of the logarithm, also where the logarithm is near 0.
        log_infinite += 4 * UNIT_ROUNDOFF * (1.0 + abs(log_infinite))

    # The last argument bounds the errors of the log masses, which are sums of up to three logarithms.
    profile = AtomicProfile(losses, log_masses, log_infinite, 8 * UNIT_ROUNDOFF)
    reversed_masses = tuple(reversed(log_masses))
    atoms = FiniteLaw(losses, log_masses, reversed_masses, log_infinite, log_infinite)
    return Pair(profile, profile, atoms=atoms, plateau=Plateau(epsilon, Fraction(delta)))


@request
class ApproximateInputs:
    """An (ε, δ) guarantee, and the ε' at which δ is computed."""

    epsilon: AnyEpsilon
    delta: PureDelta
    at_epsilon: Annotated[float, AT_EPSILON]


def implied_delta(inputs: ApproximateInputs) -> Outputs:
    """Compute the least δ at another ε' that an (ε, δ) guarantee implies.

    Args:
        inputs: ε and δ of the guarantee, and ε'.

    Returns:
        δ at ε', rounded up, and its decimal logarithm.
    """
    pair = approximate_pair(inputs.epsilon, inputs.delta)
    log_delta = pair.log_delta(np.asarray([inputs.at_epsilon])).upper
    return delta_outputs(float(log_delta[0]))


AS_DECLARED = Condition(
    "as-declared", "the mechanism is (ε, δ)-differentially private in the relation of the request, and for its unit"
)
EXTREMAL = Theorem(
    id="kairouz-oh-viswanath-2015.extremal-pair",
    title="The extremal pair of an (ε, δ) guarantee",
    statement=(
        "Every (ε, δ) mechanism is dominated by the pair of losses ±∞ of mass δ and ±ε of masses (1 − δ) e^ε/(1 + "
        "e^ε) and (1 − δ)/(1 + e^ε). Any two outputs are a post-processing of it"
    ),
    source=Source("kairouz2015composition", "the mechanism that attains Theorem 3.3, and the reduction to it"),
    status=Status.PROVED,
    conditions=(AS_DECLARED,),
    inputs=ApproximateInputs,
    formula=implied_delta,
    examples=(
        {"epsilon": 1.0, "delta": 0.1, "at_epsilon": 0.5},
        {"epsilon": 1.0, "delta": 0.0, "at_epsilon": 1.0},
        {"epsilon": 0.0, "delta": 0.25, "at_epsilon": 0.0},
    ),
)


def black_box(spec: Approximate, case: Case) -> Guarantee:
    """Return the guarantee of a mechanism of which only an (ε, δ) guarantee is known.

    The bound on δ is that of a pair of distributions that dominates every such mechanism. There is no lower bound on δ,
    because the mechanism may be better.

    Args:
        spec: specification of the mechanism, with ε and δ.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the declared (ε, δ) is true.
    """
    return Guarantee(
        setting=case.setting,
        curve=Curve(approximate_pair(spec.epsilon, spec.delta)),
        derivation=EXTREMAL.because(epsilon=spec.epsilon, delta=spec.delta),
        declared=(AS_DECLARED,),
    )


THEOREMS: tuple[Theorem, ...] = (EXTREMAL,)
RULES: tuple[Rule, ...] = (Rule(EXTREMAL, "approximate", black_box),)
KIND = MechanismKind(
    sentence=("a mechanism of which nothing is known but its guarantee, ε = {epsilon} and δ = {delta}").format_map,
    at_noise=lambda noise: Approximate(epsilon=1.0 / noise, delta=1e-9),
)
