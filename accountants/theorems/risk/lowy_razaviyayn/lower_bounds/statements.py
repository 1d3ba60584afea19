"""Lower bounds on the excess risk of private federated learning: Theorems 3.1, F.3, F.4 and F.5 of Lowy and Razaviyayn.

Every constant is hidden, so that each figure is a scale: the order in which the least possible risk grows, never a
number that a run's risk must exceed. All clients participate. With r the privacy ratio:

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
    """Return the order of the lower bound on the excess risk of the expected loss, and its two terms.

    The order is the sum of the terms, but at most LD, the largest possible excess risk.

    Args:
        inputs: the clients and the loss.
        scales: Lipschitz constant L, size D of the domain and strong convexity.
        ratio: privacy ratio r ≥ 0, on which the privacy term depends.

    Returns:
        `excess_risk_scale`, the order, and the terms `statistical_term` and `privacy_term`, in units of the loss.
    """
    terms = inputs.statistical_outputs(inputs.gradient_std, scales)
    terms["privacy_term"] = scales.privacy(ratio)
    order = scales.cap(terms["statistical_term"], terms["privacy_term"])
    return {"excess_risk_scale": order, **terms}


def _empirical_outputs(scales: LossScales, ratio: float) -> dict[str, float]:
    """Return the order of the lower bound on the excess risk of the mean loss on the data.

    It is the privacy term only. There is no statistical term, because the data are given.

    Args:
        scales: Lipschitz constant, size of the domain and strong convexity.
        ratio: privacy ratio r.

    Returns:
        `excess_risk_scale`, and the same number as `privacy_term`, in units of the loss.
    """
    cost = scales.privacy(ratio)
    return {"excess_risk_scale": scales.cap(cost), "privacy_term": cost}


def local_population(inputs: LocalInputs) -> Outputs:
    """Return the order of the lower bound on the excess risk for clients that trust only themselves.

    By Theorem 3.1 of Lowy and Razaviyayn it is, with r = √d/(ε₀n√N C²):

        φD/√(nN) + LD min{1, r}                        for convex losses,
        min{φ²/(μnN), φD/√(nN)} + LD min{1, r²}        for μ-strongly convex losses.

    Args:
        inputs: N clients with n records each, dimension d, diameter D of the domain, and the Lipschitz constant L. φ is
            the standard deviation of a record's gradient, ε₀ the ε of a record, and C `compositionality`.

    Returns:
        The order of the excess risk and its two terms, in units of the loss and without constants. Further:
        `least_clients`: number of clients that the proof requires.
        `printed_least_clients`: number of clients that the theorem states.
        `printed_statistical_term`: statistical term that the paper prints, only for strongly convex losses.
    """
    ratio = inputs.local_ratio(inputs.compositionality)
    order_and_terms = _population_outputs(inputs, inputs.scales(inputs.diameter), ratio)
    return {
        **order_and_terms,
        "least_clients": inputs.least_clients,
        "printed_least_clients": inputs.printed_least_clients,
    }


def central_population(inputs: CentralInputs) -> Outputs:
    """Return the order of the lower bound on the excess risk with a trusted server, and its two terms.

    It is Theorem F.3 of Lowy and Razaviyayn. Strongly convex losses also have a larger order, which holds if L is of
    order μD. Its privacy term is min{L²/μ min{1, r²}, LD min{1, r}} instead of LD min{1, r²}.

    Args:
        inputs: clients, records and privacy parameter, which determine the privacy ratio r of `central_ratio`. L is the
            Lipschitz constant, μ the strong convexity, and D the radius of the domain.

    Returns:
        In units of the loss and without constants:
        `excess_risk_scale`: the order, with its terms `statistical_term` and `privacy_term`.
        `larger_scale`: the larger order, only for strongly convex losses.
        `printed_statistical_term`: statistical term that the paper prints, only for strongly convex losses.
    """
    ratio, scales = inputs.central_ratio, inputs.scales(inputs.radius)
    outputs = _population_outputs(inputs, scales, ratio)
    if inputs.strong_convexity == 0.0:
        return outputs

    strongly_convex_term = inputs.lipschitz * inputs.lipschitz / inputs.strong_convexity * min(1.0, ratio * ratio)
    convex_term = inputs.lipschitz * inputs.radius * min(1.0, ratio)
    larger_privacy_term = min(strongly_convex_term, convex_term)
    outputs["larger_scale"] = scales.cap(outputs["statistical_term"], larger_privacy_term)
    return outputs


def local_empirical(inputs: LocalEmpiricalInputs) -> Outputs:
    """Return the order of the lower bound on the empirical excess risk for clients that trust only themselves.

    It is Theorem F.4 of Lowy and Razaviyayn: LD min{1, r} for convex losses, with the privacy ratio r = √d/(ε₀n√N), and
    LD min{1, r²} for strongly convex ones.

    Args:
        inputs: N clients with n records each, dimension d, radius D of the domain, Lipschitz constant L, and the ε₀ of
            a record.

    Returns:
        `excess_risk_scale`: the order, and the same number as `privacy_term`, in units of the loss.
        `log10_least_round_delta`: log10 of the smallest δ of a report for which the proof holds.
        `printed_log10_least_round_delta`: the same as the paper prints it.
    """
    order = _empirical_outputs(inputs.scales(inputs.radius), inputs.local_ratio())
    exponent = inputs.samples_per_client * inputs.epsilon  # nε₀
    return {
        **order,
        "log10_least_round_delta": inputs.log10_least_round_delta(exponent),
        "printed_log10_least_round_delta": inputs.log10_least_round_delta(0.0),
    }


def central_empirical(inputs: CentralEmpiricalInputs) -> Outputs:
    """Return the order of the lower bound on the empirical excess risk with a trusted server.

    It is Theorem F.5 of Lowy and Razaviyayn: LD min{1, r} for convex losses, with the privacy ratio r = √d/(εnN), and
    LD min{1, r²} for strongly convex ones. L is the Lipschitz constant, and D the radius of the domain.

    Args:
        inputs: N clients with n records each, dimension d, the constants of the loss, and ε.

    Returns:
        `excess_risk_scale`, and the same number as `privacy_term`, in units of the loss.
    """
    return _empirical_outputs(inputs.scales(inputs.radius), inputs.central_ratio)


# Conditions ---------------------------------------------------------------------------------------------------------
def _least_round_delta(inputs: LocalEmpiricalInputs) -> Sides:
    """Compare the δ of a report with the smallest one for which the proof holds, both as log10."""
    least = inputs.log10_least_round_delta(inputs.samples_per_client * inputs.epsilon)
    return Sides.at_least(math.log10(inputs.round_delta), least)


def _lipschitz_and_radius(inputs: CentralInputs | CentralEmpiricalInputs | LocalEmpiricalInputs) -> Sides:
    """Compare the Lipschitz constant L with μD, for the radius D of the domain and the strong convexity μ."""
    return Sides.at_least(inputs.lipschitz, inputs.strong_convexity * inputs.radius)


NOT_ABOVE_ROOT = Condition(
    "root-of-clients", "ε₀ ≤ √N for N clients", lambda inputs: Sides.at_most(inputs.epsilon, math.sqrt(inputs.clients))
)
ONE_OVER_RECORDS = Condition(
    "one-over-records",
    "ε₀^r ≤ 1/n in every round, for n records per client",
    lambda inputs: Sides.at_most(inputs.largest_round_epsilon, 1.0 / inputs.samples_per_client),
)
ENOUGH_CLIENTS = Condition(
    "enough-clients",
    "the number N of clients is at least 16 e^{nε₀^r} ln(2/(Nnδ₀^r)), the premise of Theorem F.2",
    lambda inputs: Sides.at_least(inputs.clients, inputs.least_clients),
)
PRINTED_ENOUGH_CLIENTS = Condition(
    "printed-enough-clients",
    "the number N of clients is at least 16 ln(2/(nδ₀^r)), as Theorem 3.1 states",
    lambda inputs: Sides.at_least(inputs.clients, inputs.printed_least_clients),
)
STEEP = Condition(
    "steep-enough",
    "L ≥ μD/2, as every μ-strongly convex and L-Lipschitz loss has on a domain of diameter D",
    lambda inputs: Sides.at_least(inputs.lipschitz, 0.5 * inputs.strong_convexity * inputs.diameter),
)
STEEP_IN_RADIUS = Condition("steep-enough", "L ≥ μD for the radius D of the domain", _lipschitz_and_radius)
EVERYONE = Condition("all-participate", "every client takes part in every round (M = N)")
SYMMETRIC = Condition("symmetric", "the algorithm treats all clients alike (class B of the text)")
VANISHING_SQUARED = Condition(
    "vanishing-delta", "δ₀, or the sum of δ₀^r over the rounds, is o(1/(nN)²)", undecidable=True
)
VANISHING = Condition("vanishing-delta", "δ is o(1/(nN))", undecidable=True)
HIDDEN = Condition(
    "hidden-constants", "the bound is stated up to a constant and logarithms, which Ω̃ leaves out", undecidable=True
)
LARGE_PRIVACY_TERM = Condition(
    "lipschitz-of-order",
    "L is of order μD; only `larger_scale`, with L²/μ in place of LD, needs this",
    undecidable=True,
)

# Errata -------------------------------------------------------------------------------------------------------------
MISSING_POWER = Erratum(
    "E-21",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Theorem 3.1 requires N ≥ 16 ln(2/(nδ₀)) clients of n records, for the least δ₀ of a round. Theorem F.4 "
        "requires δ₀ ≥ 2e^{−N/16}/(Nn). Footnote 16 states that the premise on N ensures the premise of Theorem F.2."
    ),
    truth=(
        "The proof applies Theorem F.2, whose premise has the factor e^{nε₀^r} for the ε₀^r of a round. At ε₀^r = "
        "1/n that is e times as many clients."
    ),
    test=f"{_TESTS}::test_the_printed_number_of_clients_lacks_a_power_of_e",
    place="Theorem 3.1 and Theorem F.4, premises; footnote 16",
    charitable=(
        "No reading that we know makes the printed numbers ensure the premise of Theorem F.2. With 16e in place of "
        "16 they would ensure it, as ε₀^r ≤ 1/n."
    ),
)
MISSING_MINIMUM = Erratum(
    "E-37",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 3.1 states the term φ²/(μnN) for μ-strongly convex losses, N clients and n records per client. φ is "
        "the standard deviation of a record's gradient. The premise L ≈ μD of Theorem F.3 is missing, for the "
        "Lipschitz constant L and the size D of the domain."
    ),
    truth=(
        "With that premise the term holds. For every μ ≤ L/D the term is min{φ²/(μnN), φD/√(nN)}. As μ → 0, φ²/(μnN) "
        "exceeds LD, the largest possible excess risk."
    ),
    test=f"{_TESTS}::test_no_lower_bound_exceeds_the_largest_excess",
    place="Theorem 3.1, part 2",
    charitable="If the premise L ≈ μD of Theorem F.3 is read into Theorem 3.1, the term holds.",
)
AT_LEAST_ONE = Erratum(
    "E-27",
    grade=Grade.UNCLEAR,
    printed=(
        "Theorem 3.1 divides its privacy terms by C² and C⁴ for C-compositional algorithms. Definition 4 admits "
        "every C > 0. By the proof of Corollary F.1, C² means max{C, C²}."
    ),
    truth="We find that C ≥ 1 is needed. Below 1 the printed bound grows like 1/C² and is not proved.",
    test=f"{_TESTS}::test_a_compositionality_below_one_is_refused",
    place="Definition 4; Theorem 3.1; proof of Corollary F.1",
    charitable="If C is read as at least 1, max{C, C²} is C² and the statement holds.",
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
        Condition(
            "least-round-delta", "log10 δ₀^r ≥ log10(2e^{−Ne^{−nε₀}/16}/(Nn)) for every round", _least_round_delta
        ),
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
    statement=(
        "With a trusted server the risk of ε-private algorithms on the data at hand is at least of order LD min{1, "
        "√d/(εnN)}. If strongly convex, the order is LD min{1, d/(εnN)²}. Here D is the radius"
    ),
    source=Source("lowy2023", "Theorem F.5"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(STEEP_IN_RADIUS, VANISHING, HIDDEN),
    inputs=CentralEmpiricalInputs,
    formula=central_empirical,
    examples=(_CENTRAL,),
)

THEOREMS: tuple[Theorem, ...] = (LOCAL_POPULATION, CENTRAL_POPULATION, LOCAL_EMPIRICAL, CENTRAL_EMPIRICAL)
