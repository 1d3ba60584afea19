"""Reference rates of Lowy and Razaviyayn: Section 3, the threshold of free privacy, Figure 2, and Appendix A.

All rates are orders of magnitude, without constants and logarithms.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    ANY_SCALE,
    GRADIENT_STD,
    SQUARES,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    GivenLogDelta,
    Lipschitz,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.inputs import (
    LossScales,
    central_ratio,
    local_ratio,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lower_bounds.statements import HIDDEN
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_rates.py"
PositiveConvexity = Annotated[
    float, Quantity(symbol="μ", unit="loss/length²", gt=0, le=1e100, description="strong convexity of the loss")
]
CONDITION_NUMBER = Quantity(symbol="κ", ge=1, le=1e100, description="smoothness over strong convexity, β/μ")


def free_privacy_epsilon(*, dimension: int, samples_per_client: int) -> float:
    """Return √(d/n), the ε from which on local privacy costs no more than the sampling of records, up to constants.

    Local privacy protects a record from all parties except its client. From this ε on, its cost √d/(εn) is at most
    1/√n, the order of the statistical error (apart from a common factor).

    Args:
        dimension: number d of coordinates of the model, at least 1.
        samples_per_client: number n of records of a client, at least 1.

    Returns:
        The threshold of ε, in nats and without constants.
    """
    return math.sqrt(dimension / samples_per_client)


@request
class ReferenceInputs:
    """A federation and its loss, for the rates of Section 3. If absent, `gradient_std` is the Lipschitz constant."""

    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    epsilon: Epsilon
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


def reference(inputs: ReferenceInputs, reading: Reading = "printed") -> Outputs:
    """Return the orders of the excess risk to which Section 3 of Lowy and Razaviyayn compares its own results.

    Args:
        inputs: the federation and the loss. φ is the standard deviation of a record's gradient, nN the number of
            records of all clients, L the Lipschitz constant, and D the diameter of the domain.
        reading: "printed" or "corrected". They differ for a trusted server and convex losses. The printed rate has the
            term φ²/√(nN), which is not in units of the loss (docs/errata.md, E-26). The corrected rate has φD/√(nN),
            and is at most LD, the largest possible excess risk.

    Returns:
        `non_private_scale`: order of the excess risk without privacy.
        `one_record_scale`: order with local privacy and one record per person.
        `central_scale`: order with a trusted server.
        `free_privacy_epsilon`: ε from which on local privacy costs no more than the sampling of records.
    """
    samples_per_client, clients = inputs.samples_per_client, inputs.clients
    dimension, epsilon = inputs.dimension, inputs.epsilon
    std = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std  # φ
    scales = LossScales(lipschitz=inputs.lipschitz, diameter=inputs.diameter, strong_convexity=inputs.strong_convexity)

    records = float(samples_per_client) * clients  # nN
    statistical = scales.statistical(std, records)

    # Each trust model has a ratio that determines the cost of privacy.
    one_record_ratio = local_ratio(epsilon=epsilon, dimension=dimension, samples_per_client=1, clients=clients)
    ratio = central_ratio(epsilon=epsilon, dimension=dimension, samples_per_client=samples_per_client, clients=clients)
    if reading == "printed" and inputs.strong_convexity == 0.0:
        central_scale = std * std / math.sqrt(records) + scales.privacy(ratio)
    else:
        central_scale = scales.cap(statistical, scales.privacy(ratio))
    return {
        "non_private_scale": statistical,
        "one_record_scale": scales.privacy(one_record_ratio),
        "central_scale": central_scale,
        "free_privacy_epsilon": free_privacy_epsilon(dimension=dimension, samples_per_client=samples_per_client),
    }


@formula(given="A federation, in units where L = D = φ = 1, and L²/μ = 1 for the strongly convex rates.")
def figure(
    *,
    samples_per_client: SamplesPerClient,
    clients: Clients,
    dimension: Dimension,
    epsilon: Epsilon,
    condition_number: Annotated[float, CONDITION_NUMBER],
    reading: Reading = "printed",
) -> Outputs:
    """Return every rate in Figure 2 of Lowy and Razaviyayn by its name.

    The rates are orders of the excess risk, in units of the largest possible excess risk.

    Args:
        samples_per_client: records n of a client.
        clients: number N of clients.
        dimension: number d of coordinates.
        epsilon: ε₀ of local privacy, which protects a record from all parties except its own client.
        condition_number: κ = β/μ, smoothness divided by strong convexity.
        reading: "printed" has the factor √(κd) for different clients and strongly convex losses. "corrected" has √κ d
            (erratum E-25), a C² of at least 1 (E-27), and no rate above 1, the largest possible excess. C bounds
            √(Σ_r (ε₀^r)²)/ε₀, where ε₀^r is the ε of the messages of round r.

    Returns:
        Rates for `identical` and `different` distributions of the clients, the `empirical` loss and `shuffled` reports.
        `one_pass_compositionality_squared`: C² of the one-pass algorithm of equation (8), by which the lower bound for
        different clients is divided.
        `different_convex_lower_sequential`: this lower bound at C = 1.
        `one_pass_excess_factor`: ratio of equation (8) to equation (4), without the sampling terms.
        `one_pass_strongly_convex_excess_factor`: ratio of equation (9) to equation (5).
        `one_pass_strongly_convex_gap`: ratio of equation (9) to the lower bound.
    """
    # The errors due to privacy without and with a trusted server, and the error due to sampling.
    sizes = {"dimension": dimension, "samples_per_client": samples_per_client, "clients": clients}
    local = local_ratio(epsilon=epsilon, **sizes)
    central = central_ratio(epsilon=epsilon, **sizes)
    records = float(samples_per_client) * clients
    convex_sampling = 1.0 / math.sqrt(records)
    strongly_convex_sampling = 1.0 / records

    # The factors of the one-pass algorithm as printed.
    compositionality_squared = local**-0.4
    excess_factor = local**-0.2
    one_pass_factor = math.sqrt(condition_number * dimension) / dimension
    if reading == "corrected":
        compositionality_squared = max(1.0, compositionality_squared)
        excess_factor = max(1.0, excess_factor)
        one_pass_factor = math.sqrt(condition_number)

    rates = {
        "identical_convex": convex_sampling + local,
        "identical_strongly_convex": strongly_convex_sampling + local * local,
        "different_convex_upper": convex_sampling + local**0.8,
        "different_convex_lower": convex_sampling + local / compositionality_squared,
        "different_convex_lower_sequential": convex_sampling + local,
        "different_strongly_convex_upper": strongly_convex_sampling + one_pass_factor * local * local,
        "different_strongly_convex_lower": strongly_convex_sampling + local * local / condition_number,
        "empirical_convex": local,
        "empirical_strongly_convex": local * local,
        "shuffled_identical_convex": convex_sampling + central,
        "shuffled_identical_strongly_convex": strongly_convex_sampling + central * central,
    }
    if reading == "corrected":
        rates = {name: min(1.0, rate) for name, rate in rates.items()}
    return {
        **rates,
        "one_pass_compositionality_squared": compositionality_squared,
        "one_pass_excess_factor": excess_factor,
        "one_pass_strongly_convex_excess_factor": math.sqrt(condition_number),
        "one_pass_strongly_convex_gap": condition_number * math.sqrt(condition_number),
    }


@formula(
    given="A federation and a strongly convex, smooth loss; each client's target is (ε, δ), or (ε, 0).", bounded=False
)
def earlier(
    *,
    samples_per_client: SamplesPerClient,
    clients: Clients,
    dimension: Dimension,
    epsilon: Annotated[Epsilon, SQUARES],
    log_delta: GivenLogDelta,
    lipschitz: Annotated[Lipschitz, SQUARES],
    strong_convexity: Annotated[PositiveConvexity, SQUARES],
    condition_number: Annotated[float, CONDITION_NUMBER] = 1.0,
) -> Outputs:
    """Return the orders of the excess risk of two earlier methods, and of Theorem 2.4 of Lowy and Razaviyayn.

    The earlier orders are those that Appendix A cites. The losses are strongly convex, the risk is that of the mean
    loss on the data, and all clients take part.

    Args:
        samples_per_client: records n of a client.
        clients: number N of clients.
        dimension: number d of coordinates.
        epsilon: ε of every client's target.
        log_delta: natural logarithm of δ, for Theorem 2.4; the earlier methods have δ = 0.
        lipschitz: Lipschitz constant L of the loss.
        strong_convexity: strong convexity μ of the loss.
        condition_number: κ = β/μ, with β the smoothness.

    Returns:
        `theorem_2_4_scale`: L²d ln(1/δ)/(με²n²N), the rate of Theorem 2.4.
        `gradient_scale`: κL²d/(μNnε²), the first term of an earlier gradient method.
        `additive_scale`: ε, the second term of that method.
        `ratio`: ln(1/δ)/(κn), the rate of Theorem 2.4 over that first term.
        `alternating_scale`: N/ε², the rate of an alternating minimisation.
    """
    # The common factor L²d/(μNnε²) of two of the rates.
    squared_lipschitz_ratio = lipschitz / strong_convexity * lipschitz  # L²/μ
    scale = squared_lipschitz_ratio * (dimension / clients) / samples_per_client / epsilon**2
    return {
        "theorem_2_4_scale": scale * -log_delta / samples_per_client,
        "gradient_scale": scale * condition_number,
        "additive_scale": epsilon,
        "ratio": -log_delta / (condition_number * samples_per_client),
        "alternating_scale": clients / epsilon**2,
    }


def _privacy_ratio(*, samples_per_client: int, clients: int, dimension: int, epsilon: float) -> Sides:
    """Compare the ratio √d/(ε₀n√N), on which the cost of local privacy depends, with 1.

    If it exceeds 1, the lower bound is of the order of the largest possible excess risk.

    Args:
        samples_per_client: number n of records of a client, at least 1.
        clients: number N of clients, at least 1.
        dimension: number d of coordinates of the model, at least 1.
        epsilon: privacy parameter ε₀ > 0 of a record.

    Returns:
        The two sides of the condition: the ratio, which must be at most 1, and 1.
    """
    ratio = local_ratio(epsilon=epsilon, dimension=dimension, samples_per_client=samples_per_client, clients=clients)
    return Sides.at_most(ratio, 1.0)


def _free(inputs: ReferenceInputs) -> Sides:
    """Return both sides of the condition d/ε² ≤ n, under which privacy costs no more than sampling, up to a constant.

    The verdict is undecidable, because the constant is hidden.

    Args:
        inputs: dimension d, ε, and the number n of records of a client.
    """
    return Sides(Verdict.UNDECIDABLE, inputs.dimension / inputs.epsilon**2, inputs.samples_per_client)


FREE_PRIVACY = Condition(
    "privacy-for-free",
    "d/ε₀² is at most of order n, for dimension d and n records per client, where privacy is free up to constants",
    _free,
)
RATIO_AT_MOST_ONE = Condition(
    "ratio-at-most-one",
    "r = √d/(ε₀n√N) ≤ 1, as the printed figure leaves out min{1, ·}; beyond r = 1 the start is as good",
    _privacy_ratio,
)
WRONG_UNIT = Erratum(
    "E-26",
    grade=Grade.MISPRINT,
    printed=(
        "Section 3 states the first term of the central rate as φ²/√(nN), for N clients of n records. φ is the "
        "standard deviation of a record's gradient."
    ),
    truth="We find φD/√(nN), for the size D of the domain. This is a loss, as a rate of the excess risk must be.",
    test=f"{_TESTS}::test_the_printed_central_rate_is_not_a_loss",
    place="Section 3, after Theorem 3.1",
    charitable="If φ² is read as φD, the rate agrees with footnote 8.",
)
SPREAD = Erratum(
    "E-25",
    grade=Grade.MISPRINT,
    printed=(
        "For clients that differ, Figure 2 has √(κd)/(ε²n²N), with the condition number κ and the dimension d. N is "
        "the number of clients and n that of their records. Section 1 states that (8) is looser than (4) by about "
        "(√d/(nε√M))^{1/5} for M participants. Section 2.2 gives this as the order of their gap, with N for M."
    ),
    truth=(
        "We find √κ d/(ε²n²N), as in (9). We find that (8) is looser by the inverse, (εn√M/√d)^{1/5}, which exceeds 1."
    ),
    test=f"{_TESTS}::test_the_figure_drops_a_root_of_the_dimension",
    place="Figure 2, strongly convex losses of non-i.i.d. clients; Section 1, contribution 2; Section 2.2, after (9)",
    charitable=(
        "If the root covers κ only, the rate agrees with (9). If the factor is read as that by which (4) is smaller "
        "than (8), it holds. As a bound on the difference of (8) and (4), the order in Section 2.2 holds too."
    ),
)
REFERENCE_RATES = Theorem(
    id="lowy.section-3",
    title="Reference rates for federated privacy",
    statement=(
        "Without privacy the rate is φD/√(nN), or min{φ²/(μnN), φD/√(nN)} if strongly convex. Local privacy "
        "with one record a person has LD min{1, √d/(ε√N)}. A trusted server has φD/√(nN) + LD min{1, "
        "√d/(εnN)}. Privacy against everyone is free, in order, where d/ε₀² is at most n"
    ),
    source=Source("lowy2023", "Section 3 and footnote 8"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(FREE_PRIVACY, HIDDEN),
    errata=(WRONG_UNIT,),
    inputs=ReferenceInputs,
    formula=reference,
    examples=(
        {
            "samples_per_client": 100,
            "clients": 50,
            "dimension": 20,
            "epsilon": 1.0,
            "lipschitz": 1.0,
            "diameter": 2.0,
            "gradient_std": 0.5,
        },
    ),
)
FIGURE_2 = Theorem(
    id="lowy.figure-2",
    title="The rates of Figure 2",
    statement=(
        "Let r = √d/(ε₀n√N) ≤ 1. Of each pair of rates, the second is for strongly convex losses. Identical clients "
        "have 1/√(nN) + r and 1/(nN) + r². Clients that differ have the "
        "upper bounds 1/√(nN) + r^{4/5} and 1/(nN) + √κ r². Their lower bounds are 1/√(nN) + r/C² and 1/(nN) + "
        "r²/κ, with C² = r^{−2/5} for one pass. On the data at hand the rates are r and r². Shuffled, they are "
        "1/√(nN) + √d/(εnN) and 1/(nN) + d/(εnN)². The printed figure has √(κd)/(ε₀²n²N) for √κ r². For any r "
        "the rates hold with min{1, ·}"
    ),
    source=Source("lowy2023", "Figure 2"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(RATIO_AT_MOST_ONE, HIDDEN),
    errata=(SPREAD,),
    formula=figure,
    examples=({"samples_per_client": 100, "clients": 50, "dimension": 20, "epsilon": 1.0, "condition_number": 16.0},),
)

EARLIER_RATES = Theorem(
    id="lowy.appendix-a",
    title="Earlier rates, as Appendix A cites them",
    statement=(
        "An earlier gradient method has κL²d/(μNnε²) + ε, without δ. Theorem 2.4 has L²d ln(1/δ)/(με²n²N), which is "
        "ln(1/δ)/(κn) times the first term. An alternating minimisation has N/ε². The rates are for μ-strongly convex "
        "losses with β = κμ, and all N clients take part"
    ),
    source=Source("lowy2023", "Appendix A"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(HIDDEN, Condition("cited-rates", "the earlier rates are those that Appendix A cites")),
    formula=earlier,
    examples=(
        {
            "samples_per_client": 100,
            "clients": 50,
            "dimension": 20,
            "epsilon": 0.5,
            "delta": 1e-5,
            "lipschitz": 1.0,
            "strong_convexity": 0.1,
            "condition_number": 16.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (REFERENCE_RATES, FIGURE_2, EARLIER_RATES)
