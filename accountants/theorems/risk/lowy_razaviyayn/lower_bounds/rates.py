"""Reference rates of Lowy and Razaviyayn: comparisons of Section 3, the threshold of free privacy, and Figure 2.

All rates are orders of magnitude, without constants and logarithms.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    ANY_SCALE,
    GRADIENT_STD,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
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
CONDITION_NUMBER = Quantity(symbol="κ", ge=1, le=1e100, description="smoothness over strong convexity, β/μ")


def free_privacy_epsilon(*, dimension: int, samples_per_client: int) -> float:
    """Return √(d/n), the ε from which on privacy is free, up to constants.

    For larger ε, privacy against all parties except the client costs no more than the sampling of the records.
    """
    return math.sqrt(dimension / samples_per_client)


@request
class ReferenceInputs:
    """A federation and a loss. If absent, φ is L."""

    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    epsilon: Epsilon
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0
    gradient_std: Annotated[float | None, GRADIENT_STD, ANY_SCALE] = None


def reference(inputs: ReferenceInputs, reading: Reading = "printed") -> Outputs:
    """Return the orders of the excess risk to which Section 3 of the paper compares its own results.

    Args:
        inputs: the federation and the loss.
        reading: "printed" has φ²/√(nN) in the rate of a trusted server for convex losses, which is no loss (erratum
            E-26). "corrected" has φD/√(nN), and no rate above LD, the largest possible excess risk.

    Returns:
        `non_private_scale` is the order without privacy, `one_record_scale` that of local privacy with one record per
        person, and `central_scale` that with a trusted server. From `free_privacy_epsilon` on, local privacy costs no
        more than the sampling of records.
    """
    phi = inputs.lipschitz if inputs.gradient_std is None else inputs.gradient_std
    scales = LossScales(lipschitz=inputs.lipschitz, diameter=inputs.diameter, strong_convexity=inputs.strong_convexity)
    sizes = {"dimension": inputs.dimension, "clients": inputs.clients}
    records = float(inputs.samples_per_client) * inputs.clients
    statistical = scales.statistical(phi, records)
    one_record = local_ratio(epsilon=inputs.epsilon, samples_per_client=1, **sizes)
    central = central_ratio(epsilon=inputs.epsilon, samples_per_client=inputs.samples_per_client, **sizes)
    if reading == "printed" and inputs.strong_convexity == 0.0:
        central_scale = phi * phi / math.sqrt(records) + scales.privacy(central)
    else:
        central_scale = scales.cap(statistical, scales.privacy(central))
    return {
        "non_private_scale": statistical,
        "one_record_scale": scales.privacy(one_record),
        "central_scale": central_scale,
        "free_privacy_epsilon": free_privacy_epsilon(
            dimension=inputs.dimension, samples_per_client=inputs.samples_per_client
        ),
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
    """Return every rate in Figure 2 of the paper by its name.

    The rates are orders of the excess risk, in units of the largest one.

    Args:
        samples_per_client: records n of a client.
        clients: number N of clients.
        dimension: number d of coordinates.
        epsilon: ε₀ of a record against all parties except its client.
        condition_number: κ = β/μ, smoothness divided by strong convexity.
        reading: "printed" has the factor √(κd) for different clients and strongly convex losses. "corrected" has √κ d
            (erratum E-25), a C² of at least 1, as every C-compositional algorithm has C ≥ 1 (E-27), and no rate above
            1, the largest possible excess.

    Returns:
        The rates for `identical` and `different` distributions of the clients, for the `empirical` loss, and for
        `shuffled` reports. `one_pass_compositionality_squared` is C² of the one-pass algorithm of equation (8), which
        divides the lower bound for different clients; `different_convex_lower_sequential` is this bound at C = 1.
        `one_pass_excess_factor` is the ratio of equation (8) to equation (4).
    """
    corrected = reading == "corrected"
    records = float(samples_per_client) * clients
    sizes = {"dimension": dimension, "samples_per_client": samples_per_client, "clients": clients}
    local, central = local_ratio(epsilon=epsilon, **sizes), central_ratio(epsilon=epsilon, **sizes)
    root, kappa = 1.0 / math.sqrt(records), condition_number
    squared = max(1.0, local**-0.4) if corrected else local**-0.4
    widened = math.sqrt(kappa) if corrected else math.sqrt(kappa * dimension) / dimension
    rates = {
        "identical_convex": root + local,
        "identical_strongly_convex": 1.0 / records + local * local,
        "different_convex_upper": root + local**0.8,
        "different_convex_lower": root + local / squared,
        "different_convex_lower_sequential": root + local,
        "different_strongly_convex_upper": 1.0 / records + widened * local * local,
        "different_strongly_convex_lower": 1.0 / records + local * local / kappa,
        "empirical_convex": local,
        "empirical_strongly_convex": local * local,
        "shuffled_identical_convex": root + central,
        "shuffled_identical_strongly_convex": 1.0 / records + central * central,
    }
    if corrected:
        rates = {name: min(1.0, rate) for name, rate in rates.items()}
    factor = local**-0.2
    return {
        **rates,
        "one_pass_compositionality_squared": squared,
        "one_pass_excess_factor": max(1.0, factor) if corrected else factor,
    }


def _privacy_ratio(*, samples_per_client: int, clients: int, dimension: int, epsilon: float) -> Sides:
    """Check that the privacy ratio r is at most 1."""
    ratio = local_ratio(epsilon=epsilon, dimension=dimension, samples_per_client=samples_per_client, clients=clients)
    return Sides.at_most(ratio, 1.0)


def _free(inputs: ReferenceInputs) -> Sides:
    """Return both sides of d/ε² ≤ n, which is undecidable as constants are hidden."""
    return Sides(Verdict.UNDECIDABLE, inputs.dimension / inputs.epsilon**2, inputs.samples_per_client)


FREE_PRIVACY = Condition(
    "privacy-for-free",
    "d/ε₀² is at most of order n: then privacy against everyone is free, up to constants",
    _free,
)
RATIO_AT_MOST_ONE = Condition(
    "ratio-at-most-one",
    "r = √d/(ε₀n√N) ≤ 1: the printed figure leaves out min{1, ·}, beyond which the start is as good",
    _privacy_ratio,
)
WRONG_UNIT = Erratum(
    "E-26",
    grade=Grade.MISPRINT,
    printed="φ²/√(nN) in the central rate",
    truth="φD/√(nN), which is a loss",
    test=f"{_TESTS}::test_the_printed_central_rate_is_not_a_loss",
)
SPREAD = Erratum(
    "E-25",
    grade=Grade.MISPRINT,
    printed="√(κd)/(ε²n²N); and (8) is looser than (4) by (√d/(nε√M))^{1/5}",
    truth="√κ d/(ε²n²N), as in (9). Also by the inverse, (εn√M/√d)^{1/5}, which exceeds 1",
    test=f"{_TESTS}::test_the_figure_drops_a_root_of_the_dimension",
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
        "Let r = √d/(ε₀n√N) ≤ 1. Identical clients have 1/√(nN) + r and 1/(nN) + r². Different ones have the "
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

THEOREMS: tuple[Theorem, ...] = (REFERENCE_RATES, FIGURE_2)
