"""Theorem 3 of Das et al. and Corollary 3.1: they add a probability over the data to δ, with wrong constants."""

from __future__ import annotations

import math

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import Delta, Dimension, Epsilon, Rounds, SamplesPerClient, delta_outputs, request
from epsilond.accountants.quantities.algorithms import GrowthRatio, QuantizationLevels
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.papers.das.sensitivity import movement_outputs, relative_bounds
from epsilond.accountants.theorems.vacuous import delta_below_one, probability_below_one

_TESTS = "tests/theorems/papers/das/test_small_movement.py"


@request
class GrowthInputs:
    """One client of n records. No gradient of a record has more than ρ times the norm of the mean gradient."""

    growth_ratio: GrowthRatio
    samples_per_client: SamplesPerClient
    quantization_levels: QuantizationLevels
    dimension: Dimension


def movement(inputs: GrowthInputs, reading: Reading) -> float:
    """Compute a bound on the distance by which one record moves a client's unit update (Theorem 3 of Das et al.).

    The bound is 15 e^(1/4) ρ/n. It fails with a small probability over the draw of the data.

    Args:
        inputs: number n of records of the client, and ratio ρ of the largest norm of a record's gradient to that of the
            mean gradient.
        reading: version of the constant: `printed` for 15 as in the paper, `corrected` for 40/3, which is sufficient.

    Returns:
        The distance of two unit vectors, without unit.
    """
    constant = 15.0
    if reading == "corrected":
        constant = 40.0 / 3.0
    return constant * math.exp(0.25) * inputs.growth_ratio / inputs.samples_per_client


def theorem_3(inputs: GrowthInputs, reading: Reading = "printed") -> Outputs:
    """Compute the bound of Theorem 3 of Das et al. on the movement of a client's unit update by one record.

    It holds at one fixed model, except with `failure_probability` over the draw of the data.

    Args:
        inputs: number n of records of the client, and the grid to which updates are rounded. ρ is the ratio of the
            largest norm of a record's gradient to that of the mean gradient.
        reading: version of the formulas: `printed` for the paper's failure probability 4(ρ − 1)/n, `corrected` for
            4(ρ² − 1)/n (erratum D-11) and the smaller constant of `movement`.

    Returns:
        `relative_movement`: the bound on the distance of the two unit updates, without unit.
        `failure_probability`: probability over the data that the bound fails.
        The sensitivities of the rounded update that follow from the bound.
    """
    relative_movement = movement(inputs, reading)
    sensitivities = relative_bounds(inputs.dimension, inputs.quantization_levels, relative_movement)

    growth_ratio = inputs.growth_ratio
    if reading == "printed":
        failure_probability = 4.0 * (growth_ratio - 1.0) / inputs.samples_per_client
    else:
        failure_probability = 4.0 * (growth_ratio * growth_ratio - 1.0) / inputs.samples_per_client
    return {
        "relative_movement": relative_movement,
        **movement_outputs(sensitivities),
        "failure_probability": failure_probability,
    }


MANY_RECORDS = Condition(
    "many-records",
    "the client has n ≥ 15 e^(1/4) ρ/2 records, with the growth ratio ρ of their gradients",
    lambda inputs: Sides.at_least(inputs.samples_per_client, 7.5 * math.exp(0.25) * inputs.growth_ratio),
)
DISTRIBUTIONAL = Condition(
    "over-the-data",
    "the bounds hold with a probability over the drawn records at one fixed model, although (ε, δ) concerns all data",
)
D_11 = Erratum(
    "D-11",
    grade=Grade.PROVED_WRONG,
    place="Theorem 3, Lemma 5 with (103) and (112) in Appendix E, and Corollary 3.1",
    printed=(
        "Assumption 3 bounds the norm of a record's gradient by ρ times that of the population gradient. "
        "The paper states that the sensitivities of a client with n records hold with probability 1 − 4(ρ "
        "− 1)/n. Corollary 3.1 adds 4(ρ − 1)/n to δ."
    ),
    truth=(
        "The proof gives the probability 4(ρ² − 1)/n of a failure. It concerns one fixed model, not the K "
        "models of a run. A probability over the data cannot be added to δ, which is a bound for every "
        "data set."
    ),
    charitable=(
        "If Assumption 3 bounds squared norms, 4(ρ − 1)/n is right at one fixed model. No reading that we "
        "know lets a probability over the data be added to δ."
    ),
    test=f"{_TESTS}::test_the_variance_of_a_growth_condition",
)
THEOREM_3 = Theorem(
    id="das.3",
    title="Sensitivity of a client with many similar records: a heuristic, no privacy statement",
    statement=(
        "The paper states that replacing one of a client's n records moves its unit update by at most "
        "15e^(1/4)ρ/n. It does so with probability at least 1 − 4(ρ−1)/n over the data, with the growth ratio "
        "ρ of the gradients."
    ),
    source=Source("das2021", "Theorem 3, (113), (114) and (120)"),
    status=Status.UNPROVED,
    conditions=(MANY_RECORDS, DISTRIBUTIONAL, probability_below_one("failure_probability")),
    errata=(D_11,),
    inputs=GrowthInputs,
    formula=theorem_3,
    examples=({"growth_ratio": 10.0, "samples_per_client": 50, "quantization_levels": 512, "dimension": 10000},),
)


@formula(given="A run of K rounds.", bounded=False)
def corollary_3_1(
    *,
    epsilon: Epsilon,
    delta: Delta,
    rounds: Rounds,
    dimension: Dimension,
    growth_ratio: GrowthRatio,
    samples_per_client: SamplesPerClient,
) -> Outputs:
    """Compute the ε and δ that Corollary 3.1 of Das et al. states for a run of K rounds. They are not valid.

    The stated ε is ε/8 + ε²/(256 log(1/δ)), and the stated δ is K 2^−d + δ + 4(ρ − 1)/n.

    Args:
        epsilon: parameter ε of the corollary.
        delta: slack δ of the composition.
        rounds: number K of rounds.
        dimension: number d of coordinates; a round is claimed to have δ₀ = 2^−d.
        growth_ratio: ρ, the largest norm of a record's gradient over the norm of the mean gradient.
        samples_per_client: records n of a client.

    Returns:
        `claimed_epsilon`: the stated ε.
        `claimed_delta`: the stated δ, which comes with its decimal logarithm.
    """
    claimed_epsilon = epsilon / 8.0 + epsilon**2 / (256.0 * -math.log(delta))
    failure = 4.0 * (growth_ratio - 1.0) / samples_per_client
    claimed_delta = rounds * math.exp2(-dimension) + delta + failure
    return {"claimed_epsilon": claimed_epsilon, **delta_outputs(math.log(claimed_delta), "claimed_delta")}


COROLLARY_3_1 = Theorem(
    id="das.corollary-3.1",
    title="Privacy of a run, as printed: false",
    statement=(
        "The paper states that K rounds are (ε/8 + ε²/(256 log 1/δ), 2^−d K + δ + 4(ρ − 1)/n)-private. Here d "
        "is the dimension, ρ the growth ratio and n the number of a client's records. This is FALSE, because "
        "2^−d is from Theorem 1, whose true δ is next to 1. Moreover, 4(ρ − 1)/n is a probability over the "
        "data."
    ),
    source=Source("das2021", "Corollary 3.1"),
    status=Status.REFUTED,
    conditions=(DISTRIBUTIONAL, delta_below_one("claimed_delta")),
    errata=(D_11,),
    formula=corollary_3_1,
    examples=(
        {
            "epsilon": 1.0,
            "delta": 1e-9,
            "rounds": 400,
            "dimension": 50,
            "growth_ratio": 2.0,
            "samples_per_client": 1000,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_3, COROLLARY_3_1)
