"""Lower bounds on the excess risk of private federated learning: Theorems 3.1, F.3, F.4 and F.5 of Lowy and Razaviyayn.

Every constant is hidden, so that each figure is a scale: the order in which the least possible risk grows, never a
number that a run's risk must exceed. All clients participate. With r the privacy ratio,

    convex:           φD/√(nN) + LD min{1, r},
    strongly convex:  min{φ²/(μnN), φD/√(nN)} + LD min{1, r²},

r = √d/(ε₀n√N C²) if only the client is trusted, and √d/(εnN) if the server is. For the mean loss on the data at hand
the first term is absent. No scale exceeds LD, as no point of the domain has a larger excess risk. A condition such as
δ = o(1/(nN)²) is about a sequence of problems and can never be checked.
"""

from __future__ import annotations

import math

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.inputs import (
    CentralEmpiricalInputs,
    CentralInputs,
    LocalEmpiricalInputs,
    LocalInputs,
    LossScales,
)

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_lower_bounds.py"


# Formulas -----------------------------------------------------------------------------------------------------------
def _population_outputs(inputs: LocalInputs | CentralInputs, scales: LossScales, ratio: float) -> dict[str, float]:
    """Return the order of the lower bound for the expected loss: statistical plus privacy term, at most LD."""
    terms = inputs.statistical_outputs(inputs.gradient_std, scales)
    terms["privacy_term"] = scales.privacy(ratio)
    return {"excess_risk_scale": scales.cap(terms["statistical_term"], terms["privacy_term"]), **terms}


def _empirical_outputs(scales: LossScales, ratio: float) -> dict[str, float]:
    """Return the order of the lower bound for the mean loss on the data at hand, which is the privacy term."""
    cost = scales.privacy(ratio)
    return {"excess_risk_scale": scales.cap(cost), "privacy_term": cost}


def local_population(inputs: LocalInputs) -> Outputs:
    """Return the order of the lower bound of Theorem 3.1, for clients that trust only themselves.

    Returns:
        The order and its two terms. `least_clients` is the number of clients that the proof requires;
        `printed_least_clients` is the smaller number of the text.
    """
    return {
        **_population_outputs(inputs, inputs.scales(inputs.diameter), inputs.local_ratio(inputs.compositionality)),
        "least_clients": inputs.least_clients,
        "printed_least_clients": inputs.printed_least_clients,
    }


def central_population(inputs: CentralInputs) -> Outputs:
    """Return the order of the lower bound of Theorem F.3, for a trusted server, and its two terms.

    For μ > 0 it also returns `larger_scale`, which holds if L is of order μD. L²/μ then replaces LD in the privacy
    term, and the term is at most LD min{1, r} at the privacy ratio r, the order for convex losses.
    """
    ratio, scales = inputs.central_ratio, inputs.scales(inputs.radius)
    outputs = _population_outputs(inputs, scales, ratio)
    if inputs.strong_convexity > 0.0:
        steep = inputs.lipschitz * inputs.lipschitz / inputs.strong_convexity * min(1.0, ratio * ratio)
        convex = inputs.lipschitz * inputs.radius * min(1.0, ratio)
        outputs["larger_scale"] = scales.cap(outputs["statistical_term"], min(steep, convex))
    return outputs


def local_empirical(inputs: LocalEmpiricalInputs) -> Outputs:
    """Return the order of the lower bound of Theorem F.4, for clients that trust only themselves.

    Returns:
        The order, which is the privacy term. `log10_least_round_delta` is the smallest δ of a report that the proof
        admits; `printed_log10_least_round_delta` is that of the text.
    """
    return {
        **_empirical_outputs(inputs.scales(inputs.radius), inputs.local_ratio()),
        "log10_least_round_delta": inputs.log10_least_round_delta(inputs.samples_per_client * inputs.epsilon),
        "printed_log10_least_round_delta": inputs.log10_least_round_delta(0.0),
    }


def central_empirical(inputs: CentralEmpiricalInputs) -> Outputs:
    """Return the order of the lower bound of Theorem F.5, for a trusted server, which is the privacy term."""
    return _empirical_outputs(inputs.scales(inputs.radius), inputs.central_ratio)


# Conditions ---------------------------------------------------------------------------------------------------------
def _least_round_delta(inputs: LocalEmpiricalInputs) -> Sides:
    """Check that δ₀^r of a report is at least the smallest one that the proof admits."""
    least = inputs.log10_least_round_delta(inputs.samples_per_client * inputs.epsilon)
    return Sides.at_least(math.log10(inputs.round_delta), least)


def _steep_in_radius(inputs: CentralInputs | CentralEmpiricalInputs | LocalEmpiricalInputs) -> Sides:
    """Check that L ≥ μD for the radius D."""
    return Sides.at_least(inputs.lipschitz, inputs.strong_convexity * inputs.radius)


NOT_ABOVE_ROOT = Condition(
    "root-of-clients", "ε₀ ≤ √N", lambda inputs: Sides.at_most(inputs.epsilon, math.sqrt(inputs.clients))
)
ONE_OVER_RECORDS = Condition(
    "one-over-records",
    "ε₀^r ≤ 1/n",
    lambda inputs: Sides.at_most(inputs.largest_round_epsilon, 1.0 / inputs.samples_per_client),
)
ENOUGH_CLIENTS = Condition(
    "enough-clients",
    "N ≥ 16 e^{nε₀^r} ln(2/(Nnδ₀^r)), the premise of Theorem F.2",
    lambda inputs: Sides.at_least(inputs.clients, inputs.least_clients),
)
PRINTED_ENOUGH_CLIENTS = Condition(
    "printed-enough-clients",
    "N ≥ 16 ln(2/(nδ₀^r)), as printed",
    lambda inputs: Sides.at_least(inputs.clients, inputs.printed_least_clients),
)
STEEP = Condition(
    "steep-enough",
    "L ≥ μD/2, as every μ-strongly convex loss has",
    lambda inputs: Sides.at_least(inputs.lipschitz, 0.5 * inputs.strong_convexity * inputs.diameter),
)
STEEP_IN_RADIUS = Condition("steep-enough", "L ≥ μD, D the radius", _steep_in_radius)
EVERYONE = Condition("all-participate", "every client takes part in every round (M = N)")
SYMMETRIC = Condition("symmetric", "the algorithm treats clients equally (class B)")
VANISHING_SQUARED = Condition("vanishing-delta", "δ₀, or Σδ₀^r, is o(1/(nN)²)", undecidable=True)
VANISHING = Condition("vanishing-delta", "δ is o(1/(nN))", undecidable=True)
HIDDEN = Condition("hidden-constants", "the constant and the logarithms that Ω̃ leaves out", undecidable=True)
LARGE_PRIVACY_TERM = Condition(
    "lipschitz-of-order", "L is of order μD, for `larger_scale` with L²/μ in place of LD", undecidable=True
)

# Errata -------------------------------------------------------------------------------------------------------------
MISSING_POWER = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    printed="N ≥ 16 ln(2/(nδ₀)) in Theorem 3.1, δ₀ ≥ 2e^{−N/16}/(Nn) in Theorem F.4",
    truth="the proof applies Theorem F.2, whose premise has e^{nε₀^r}: at ε₀^r = 1/n that is e times as many clients",
    test=f"{_TESTS}::test_the_printed_number_of_clients_lacks_a_power_of_e",
)
MISSING_MINIMUM = Erratum(
    "E-37",
    grade=Grade.UNCLEAR,
    printed="Theorem 3.1 states φ²/(μnN) for μ-strongly convex losses without the premise L ≈ μD of Theorem F.3",
    truth=(
        "With that premise it holds. For every μ ≤ L/D the term is min{φ²/(μnN), φD/√(nN)}. As μ → 0 the first "
        "of the two exceeds LD, the largest possible excess risk"
    ),
    test=f"{_TESTS}::test_no_lower_bound_exceeds_the_largest_excess",
)
AT_LEAST_ONE = Erratum(
    "E-27",
    grade=Grade.UNCLEAR,
    printed="C²; by Corollary F.1 it means max(C, C²)",
    truth="C ≥ 1 is needed: below 1 the printed bound grows like 1/C² and is not proved",
    test=f"{_TESTS}::test_a_compositionality_below_one_is_refused",
)

_SIZES: Fields = {"samples_per_client": 10, "clients": 1000, "dimension": 20, "lipschitz": 1.0}
_CENTRAL: Fields = {**_SIZES, "epsilon": 0.5, "radius": 1.0}
_LOCAL: Fields = {**_SIZES, "clients": 10_000, "epsilon": 0.1, "round_delta": 1e-12}

LOCAL_POPULATION = Theorem(
    id="lowy.3.1",
    title="Lower bound for privacy against everyone, for the expected loss",
    statement=(
        "Let C-compositional algorithms be ε₀-private for every record against everyone. The excess risk is at "
        "least of order φD/√(nN) + LD min{1, √d/(ε₀n√N C²)}. If strongly convex, it is at least of order "
        "min{φ²/(μnN), φD/√(nN)} + LD min{1, d/(ε₀²n²N C⁴)}. The first minimum is printed as φ²/(μnN). The "
        "lower bound is never more than LD"
    ),
    source=Source("lowy2023", "Theorem 3.1"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        NOT_ABOVE_ROOT,
        ONE_OVER_RECORDS,
        ENOUGH_CLIENTS,
        PRINTED_ENOUGH_CLIENTS,
        STEEP,
        EVERYONE,
        VANISHING_SQUARED,
        HIDDEN,
    ),
    errata=(MISSING_POWER, MISSING_MINIMUM, AT_LEAST_ONE),
    inputs=LocalInputs,
    formula=local_population,
    examples=({**_LOCAL, "diameter": 1.0, "gradient_std": 0.5},),
)
CENTRAL_POPULATION = Theorem(
    id="lowy.f.3",
    title="Lower bound for central privacy, for the expected loss",
    statement=(
        "With a trusted server ε-private algorithms have at least the order φD/√(nN) + LD min{1, √d/(εnN)}. If "
        "strongly convex, the order is min{φ²/(μnN), φD/√(nN)} + LD min{1, d/(εnN)²}. Here L²/μ replaces LD if "
        "L is of order μD. The lower bound is never more than LD. The radius is D. The text has the second "
        "case for L ≈ μD only"
    ),
    source=Source("lowy2023", "Theorem F.3"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(STEEP_IN_RADIUS, LARGE_PRIVACY_TERM, VANISHING, HIDDEN),
    inputs=CentralInputs,
    formula=central_population,
    examples=({**_CENTRAL, "strong_convexity": 0.5},),
)
LOCAL_EMPIRICAL = Theorem(
    id="lowy.f.4",
    title="Lower bound for privacy against everyone, on the data at hand",
    statement=(
        "Let symmetric algorithms be ε₀-private against everyone. Their risk is at least of order LD min{1, "
        "√d/(ε₀n√N)}, or LD min{1, d/(ε₀²n²N)} if strongly convex"
    ),
    source=Source("lowy2023", "Theorem F.4"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        NOT_ABOVE_ROOT,
        ONE_OVER_RECORDS,
        Condition("least-round-delta", "log10 δ₀^r ≥ log10(2e^{−Ne^{−nε₀}/16}/(Nn))", _least_round_delta),
        STEEP_IN_RADIUS,
        EVERYONE,
        SYMMETRIC,
        VANISHING_SQUARED,
        HIDDEN,
    ),
    errata=(MISSING_POWER,),
    inputs=LocalEmpiricalInputs,
    formula=local_empirical,
    examples=({**_LOCAL, "radius": 1.0},),
)
CENTRAL_EMPIRICAL = Theorem(
    id="lowy.f.5",
    title="Lower bound for central privacy, on the data at hand",
    statement="at least of order LD min{1, √d/(εnN)}, or LD min{1, d/(εnN)²} if strongly convex; D the radius",
    source=Source("lowy2023", "Theorem F.5"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(STEEP_IN_RADIUS, VANISHING, HIDDEN),
    inputs=CentralEmpiricalInputs,
    formula=central_empirical,
    examples=(_CENTRAL,),
)

THEOREMS: tuple[Theorem, ...] = (LOCAL_POPULATION, CENTRAL_POPULATION, LOCAL_EMPIRICAL, CENTRAL_EMPIRICAL)
