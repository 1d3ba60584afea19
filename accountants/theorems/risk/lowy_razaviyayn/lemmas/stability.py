"""Lemmas E.1 and E.2 of Lowy and Razaviyayn: the effect of one record on the output, and on the excess risk.

Run Algorithm 1 twice, on data that differ in one record of one client, with the same clients, batches and noise. A step
on the same data does not increase the distance of two points (convex, η ≤ 2/β), or shrinks it by the factor 1 − ημ
(η ≤ 2/(β + μ)). Indeed, a mean Hessian H of the batch loss has μ ≤ H ≤ β along the segment, and projection does not
expand. The changed record is in the round's batches with probability (M/N)(K/n), and then shifts the step by at most
2Lη/(MK). Hence:

    E|w_{t+1} − w'_{t+1}| ≤ (1 − ημ) E|w_t − w'_t| + 2Lη/(Nn),   E|w_t − w'_t| ≤ 2Lη/(Nn) · (1 − (1 − ημ)^t)/(ημ).

This does not depend on M or K (E-31), and also holds for a random number of participants. The loss changes by at most L
times this distance.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    CONVEXITY_WITHIN_SMOOTHNESS,
    EXCESS_RISK,
    STABILITY,
    Checks,
    Lipschitz,
    ParticipantFields,
    Rounds,
    SamplesPerClient,
    Smoothness,
    StepSize,
    StrongConvexity,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_stability.py"


def divergence(*, contraction: float, steps: int) -> float:
    """Bound the distance of two runs after t steps, each of which multiplies it by 1 − x and then adds 1.

    The runs start at the same point. The bound is the geometric sum Σ_{k<t} (1 − x)^k, which is (1 − (1 − x)^t)/x for x
    > 0 and t for x = 0.

    Args:
        contraction: x in [0, 1), step size times strong convexity.
        steps: number t of steps.

    Returns:
        The bound, from 0 to t, in units of the added distance of one step.
    """
    # The power (1 − x)^t is computed by logarithms, so that small x lose no digits.
    if contraction > 0.0:
        return -math.expm1(steps * math.log1p(-contraction)) / contraction
    return float(steps)


def averaging_ratio(contraction: float) -> float:
    """Return 1/(1 − x), the factor by which the weights of an averaged output grow from one iterate to the next.

    Args:
        contraction: x = ημ ≥ 0, step size times strong convexity.

    Returns:
        The ratio, at least 1; infinite for x ≥ 1.
    """
    complement = 1.0 - contraction
    if complement > 0.0:
        return 1.0 / complement
    return math.inf


def mean_divergence(*, contraction: float, rounds: int) -> float:
    """Bound the weighted average distance of two SGD runs that differ in one record, in units of the shift per step.

    After t steps the distance is at most (1 − (1 − x)^t)/x. The average over t = 1, …, R with the weights (1 − x)^{−t}
    is:

        (1 − Rx/((1 − x)^{−R} − 1))/x,

    or (R + 1)/2 at x = 0.

    Args:
        contraction: x = ημ in [0, 1), step size times strong convexity; a step multiplies distances by at most 1 − x.
        rounds: number R of rounds.

    Returns:
        The bound, at most (R + 1)/2 and at most 1/x.
    """
    # For small Rx the difference would lose its digits. It is rewritten as e/((Rx + e)x) with the excess e = (1 −
    # x)^{−R} − 1 − Rx, whose series converges fast.
    if contraction * rounds < 0.25:
        excess = _geometric_excess(contraction, rounds)
        if excess == 0.0:
            return 0.5 * (rounds + 1)
        return excess / (contraction * rounds + excess) / contraction

    decay = math.exp(rounds * math.log1p(-contraction))  # (1 − x)^R
    subtracted_share = rounds * contraction * decay / (1.0 - decay)  # Rx/((1 − x)^{−R} − 1)
    return (1.0 - subtracted_share) / contraction


def _geometric_excess(contraction: float, rounds: int) -> float:
    """Return (1 − x)^{−R} − 1 − Rx as its series Σ_{k≥2} C(R + k − 1, k) x^k, for Rx below 1/4.

    The closed form would lose its digits to cancellation for small x. C(n, k) is a binomial coefficient. The series
    ends after the first term below 1e-18 of Rx, because the caller adds the result to Rx.

    Args:
        contraction: number x ≥ 0, the product of step size and strong convexity.
        rounds: number R ≥ 1 of rounds.

    Returns:
        The sum of the series.
    """
    first_term = contraction * rounds
    term, total = first_term, 0.0
    for power in range(2, 80):  # far more terms than needed
        if term <= 1e-18 * first_term:
            break
        # Each term follows from the previous one: C(R + k − 1, k) = C(R + k − 2, k − 1)(R + k − 1)/k.
        term *= (rounds + power - 1) / power * contraction
        total += term
    return total


@formula(given="An algorithm's stability, and its expected excess risk on the data at hand.", bounded=False)
def generalisation(
    *, stability: Annotated[float, STABILITY], empirical_excess_risk: Annotated[float, EXCESS_RISK]
) -> Outputs:
    """Bound the expected excess risk by stability plus empirical excess risk (Lemma E.1 of Lowy and Razaviyayn).

    Args:
        stability: bound α on the change of the expected loss by one record, in loss units.
        empirical_excess_risk: expected excess risk on the data at hand, in loss units.

    Returns:
        `excess_risk`, a bound on the expected excess risk on new data, in loss units.
    """
    return {"excess_risk": stability + empirical_excess_risk}


@request
class StabilityInputs(ParticipantFields):
    """A run of noisy mini-batch SGD (Algorithm 1) with a constant step size and equal clients."""

    samples_per_client: SamplesPerClient
    rounds: Rounds
    step_size: StepSize
    lipschitz: Lipschitz
    smoothness: Smoothness
    strong_convexity: StrongConvexity = 0.0

    checks: ClassVar[Checks] = (CONVEXITY_WITHIN_SMOOTHNESS,)


def replaced_record(inputs: StabilityInputs, reading: Reading = "printed") -> Outputs:
    """Bound the change of the expected loss of noisy SGD if one record is replaced (the stability α), in loss units.

    The output averages the models w_1, …, w_R with the weights (1 − ημ)^{−t}, and η ≤ 2/(β + μ). The bounds are:

        printed:    2L²ηR/(Mn) for μ = 0,           4L²/(μ(Mn − 1)) for μ > 0,
        corrected:  L²η(R + 1)/(Nn) for μ = 0,      less than 2L²/(μNn) for μ > 0.

    The corrected one is 2L²η/(Nn) times the mean of (1 − (1 − ημ)^t)/(ημ) with these weights.

    Args:
        inputs: the run. M of the N clients take part in each of R rounds, with n records each, and step size η. The
            losses have Lipschitz constant L, smoothness β and strong convexity μ.
        reading: "printed" evaluates Lemma E.2 of Lowy and Razaviyayn, which is valid but loose. "corrected" has the
            sharper bound.

    Returns:
        `stability`, the bound α. The printed one is infinite if μ > 0 and a round has only one record.
    """
    squared_lipschitz = inputs.lipschitz * inputs.lipschitz
    step, convexity = inputs.step_size, inputs.strong_convexity
    if reading == "corrected":
        # The formula fails for a contraction of 1 or more. A contraction of 0 is valid for all convex losses.
        contraction = step * convexity if step * convexity < 1.0 else 0.0
        mean_shift = mean_divergence(contraction=contraction, rounds=inputs.rounds)
        all_records = float(inputs.clients) * inputs.samples_per_client  # Nn
        return {"stability": 2.0 * squared_lipschitz * step * mean_shift / all_records}

    records = inputs.participants * inputs.samples_per_client  # Mn
    if convexity == 0.0:
        return {"stability": 2.0 * squared_lipschitz * inputs.rounds * step / records}
    if records == 1:
        return {"stability": math.inf}
    return {"stability": 4.0 * squared_lipschitz / (convexity * (records - 1.0))}


LOST_STEP_SIZE = Erratum(
    "E-16",
    grade=Grade.MISPRINT,
    printed=(
        "The proof states E|w_t − w'_t| ≤ 2Lt/(n_min M) for the iterates w_t and w'_t on data that differ in one "
        "record. L is the Lipschitz constant, and n_min the fewest records of a client. M = 1/E[1/M_r] averages the "
        "number M_r of participants."
    ),
    truth="We find 2Lηt/(n_min M), with the step size η. The lemma's α contains η.",
    test=f"{_TESTS}::test_the_printed_divergence_lost_the_step_size",
    place="Appendix E.3, proof of Lemma E.2, after (13)",
    charitable="If the factor η of (13) is carried along, this step holds and gives the α of the lemma.",
)
SLACK = Erratum(
    "E-31",
    grade=Grade.REFINEMENT,
    printed=(
        "Lemma E.2 states the stability α = 2L²Rη/(n_min M) for R rounds of step size η. For μ-strongly convex "
        "losses, it states α = 4L²/(μ(M n_min − 1)). L is the Lipschitz constant, M the number of participants, and "
        "n_min the fewest records of a client."
    ),
    truth=(
        "Both bounds are true and loose. The changed client takes part with probability M/N only, where N is the "
        "number of clients. The average iterate is half way. We find L²η(R + 1)/(n_min N) for the average of w_1, …, "
        "w_R. For the average of w_0, …, w_{R−1}, R − 1 replaces R + 1. For μ-strongly convex losses we find 2L²/(μ "
        "N n_min)."
    ),
    test=f"{_TESTS}::test_one_record_moves_a_linear_run_by_exactly_the_sharper_bound",
    place="Appendix E.3, Lemma E.2",
    charitable="Read as printed, both bounds hold.",
)

LEMMA_E1 = Theorem(
    id="lowy.lemma-e.1",
    title="Stability bounds the generalisation gap",
    statement=(
        "An α-uniformly stable algorithm has E F(ŵ) − F* ≤ α + E[F̂(ŵ) − min F̂], if the records are independent, each "
        "from its client's distribution"
    ),
    source=Source("lowy2023", "Lemma E.1"),
    status=Status.PROVED,
    conditions=(Condition("independent-records", "the records are independent, each from its client's distribution"),),
    formula=generalisation,
    examples=({"stability": 0.01, "empirical_excess_risk": 0.2},),
)
LEMMA_E2 = Theorem(
    id="lowy.lemma-e.2",
    title="Uniform stability of Algorithm 1",
    statement=(
        "Replacing one record changes the expected loss of the output by at most 2L²Rη/(n_min M) if the losses are "
        "convex. If every record's loss is μ-strongly convex, the change is at most 4L²/(μ(M n_min − 1))"
    ),
    source=Source("lowy2023", "Lemma E.2"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "step-size",
            "η β ≤ 1 for the step size η and the smoothness β",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness, 1.0),
        ),
        Condition(
            "several-records",
            ("M n_min > 1 for M participants and the fewest records n_min of a client (min{M, n_min} > 1 as printed)"),
            lambda inputs: Sides.above(inputs.participants * inputs.samples_per_client, 1),
        ),
        Condition("convex-smooth", "every record's loss is convex, β-smooth and L-Lipschitz on the domain"),
    ),
    errata=(LOST_STEP_SIZE, SLACK),
    inputs=StabilityInputs,
    formula=replaced_record,
    examples=(
        {
            "clients": 25,
            "participants": 10,
            "samples_per_client": 1000,
            "rounds": 99,
            "step_size": 0.1,
            "lipschitz": 1.0,
            "smoothness": 2.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (LEMMA_E1, LEMMA_E2)
