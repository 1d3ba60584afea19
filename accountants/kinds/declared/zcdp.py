"""A mechanism that is known only to be ρ-zero-concentrated private."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.kinds.kind import Concentration, MechanismKind
from epsilond.accountants.numerics.outward import raise_log_by_units
from epsilond.accountants.profiles.concentrated import concentrated_pair
from epsilond.accountants.quantities import AnyEpsilon, PureDelta, ZcdpRho, delta_outputs, request
from epsilond.accountants.rule import Case, Rule
from epsilond.accountants.specs import Zcdp
from epsilond.accountants.theorem import Condition, Outputs, Source, Status, Theorem

LEAST_RHO = 1e-100
"""Least ρ of a pair. A smaller one is rounded up, so that b = ε/2ρ and its square are doubles."""


@request
class ApproximateZcdpInputs:
    """δ-approximate ρ-zCDP, and the ε at which δ of the mechanism is computed."""

    rho: ZcdpRho
    delta: PureDelta
    epsilon: AnyEpsilon


def zcdp_pair(rho: float, delta: float) -> Pair:
    """Return a pair of distributions that dominates every δ-approximately ρ-zCDP mechanism.

    ρ-zCDP (zero-concentrated differential privacy) bounds the Rényi divergence of each order a by ρa. With δ > 0 the
    bound holds except with probability δ.

    Args:
        rho: parameter ρ ≥ 0, in nats. Values below `LEAST_RHO` are raised to it.
        delta: probability δ in [0, 1).

    Returns:
        The pair. Its hockey-stick divergence at e^ε is at least the δ(ε) of each such mechanism, at every ε.
    """
    larger_rho = max(rho, LEAST_RHO)
    if delta == 0.0:
        return concentrated_pair(larger_rho)
    # With probability δ nothing is guaranteed. Its logarithm is raised by 4 units of rounding, more than its error.
    log_guaranteed = math.log1p(-delta)
    log_unguaranteed = raise_log_by_units(math.log(delta), 4.0)
    return concentrated_pair(larger_rho, log_guaranteed, log_unguaranteed)


def approximate_zcdp(inputs: ApproximateZcdpInputs) -> Outputs:
    """Compute δ at ε of every δ-approximately ρ-zCDP mechanism, rounded up.

    Args:
        inputs: ρ and δ of the mechanism, and ε.

    Returns:
        The bound on δ at ε and its decimal logarithm.
    """
    return delta_outputs(zcdp_pair(inputs.rho, inputs.delta).upper_log_delta(inputs.epsilon))


AS_DECLARED = Condition(
    "zcdp-as-declared", "the mechanism is (δ-approximately) ρ-zCDP in the relation of the request, and for its unit"
)
APPROXIMATE_ZCDP = Theorem(
    id="bun-steinke-2016.approximate-zcdp",
    title="The pair of approximate zero-concentrated privacy",
    statement=(
        "A δ-approximately ρ-zCDP mechanism is dominated by the pair with an infinite loss of probability δ, and "
        "otherwise the pair of ρ-zCDP. In a composition the ρ add up, and the 1 − δ multiply. Its δ is the least of "
        "that of the pair and of the supremum over the tests that ρ allows (`epsilond.zcdp-region`)"
    ),
    source=Source(
        "bun2016concentrated",
        "Definition 8.1 and Lemma 8.2; the pair: docs/shifted-noise.md; the tests: docs/declared.md",
    ),
    status=Status.PROVED,
    conditions=(AS_DECLARED,),
    inputs=ApproximateZcdpInputs,
    formula=approximate_zcdp,
    examples=({"rho": 0.25, "delta": 0.0, "epsilon": 1.0}, {"rho": 0.1, "delta": 1e-6, "epsilon": 1.0}),
)


def zcdp_guarantee(spec: Zcdp, case: Case) -> Guarantee:
    """Return the guarantee of a mechanism of which only δ-approximate ρ-zero-concentrated privacy is known.

    There is no lower bound on δ, because the mechanism may be better.

    Args:
        spec: specification of the mechanism, with ρ and δ.
        case: neighbouring relation, unit and observer of the guarantee, and the effort of compositions.

    Returns:
        The guarantee, on the condition that the declared ρ and δ are true.
    """
    return Guarantee(
        setting=case.setting,
        curve=Curve(zcdp_pair(spec.rho, spec.delta)),
        derivation=APPROXIMATE_ZCDP.because(rho=spec.rho, delta=spec.delta),
        declared=(AS_DECLARED,),
    )


def describe_zcdp(fields: Mapping[str, str]) -> str:
    """Describe a mechanism of which only zero-concentrated privacy is known, in words.

    Args:
        fields: values of the spec's fields as text, by name. Without `delta`, which is then 0, δ is not mentioned.

    Returns:
        A noun phrase that describes the mechanism.
    """
    delta = f" and δ = {fields['delta']}" if "delta" in fields else ""
    return f"a mechanism of which only zero-concentrated privacy is known, ρ = {fields['rho']}{delta}"


THEOREMS: tuple[Theorem, ...] = (APPROXIMATE_ZCDP,)
RULES: tuple[Rule, ...] = (Rule(APPROXIMATE_ZCDP, "zcdp", zcdp_guarantee),)
KIND = MechanismKind(
    sentence=describe_zcdp,
    at_noise=lambda noise: Zcdp(rho=0.5 / noise**2),
    concentration=lambda spec: Concentration(rho=Fraction(spec.rho), delta=Fraction(spec.delta)),
)
