"""Lemmas of Theorem F.2 of Lowy and Razaviyayn, Definition 4 and its example, as printed and as corrected.

Lemma F.5. Let P and Q be (ε, δ)-indistinguishable. If Q is fixed, P is cut down to e^ε Q, which removes at most δ, and
raised to e^{−ε} Q, which adds at most e^{−ε}δ. The remaining mass fits below e^ε Q, because e^ε Q has mass at least 1.
So |P − P'| ≤ δ. If both may move, the excess P − e^ε Q is split: P loses, and Q gains, 1/(e^ε + 1) of it. The excess of
Q is split in the same way. Each moves by at most δ/(e^ε + 1). Lemma F.6 shows that this is the least.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    RATE,
    Clients,
    Epsilon,
    GivenLogDelta,
    LocalEpsilon,
    Quantity,
    delta_outputs,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import subsampled_epsilon
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_rounds import (
    LN10,
    TESTS,
    log10,
    transferred_log_delta,
)
from epsilond.accountants.theorems.vacuous import delta_below_one

LEAST_SHARE = Quantity(symbol="p", gt=0, le=1, description="share of every report that is the same for all inputs")
LOCAL_EPSILONS = Quantity(symbol="ε₀^r", unit="nat", description="ε₀ of each round's report")
COMPOSITIONALITY = Quantity(symbol="C", ge=1, le=1000, description="√(Σ(ε₀^r)²)/ε₀ of an algorithm")
DISTANCE = Quantity(symbol="t", ge=0, le=1, description="total variation distance")


@formula(given="A shuffled round of reports that share a part with all others.", bounded=False)
def blanket(*, log_delta: GivenLogDelta, clients: Clients, share: Annotated[float, LEAST_SHARE]) -> Outputs:
    """Compute the ε at which one of N shuffled reports is hidden among the others (Lemma F.3).

    It is ε = ln(1 + 8√(ln(4/δ)/(pN)) + 8/(pN)).

    Args:
        log_delta: natural logarithm of δ.
        clients: number N of clients.
        share: p, the share of every report that does not depend on its input.
    """
    hidden = share * clients
    return {"epsilon": math.log1p(8.0 * math.sqrt((math.log(4.0) - log_delta) / hidden) + 8.0 / hidden)}


@formula(given="An (ε, δ) pair of distributions, and the distance of two other distributions from it.", bounded=False)
def transfer(*, log_delta: GivenLogDelta, epsilon: Epsilon, distance: Annotated[float, DISTANCE]) -> Outputs:
    """Compute the δ of two distributions that are near an (ε, δ) pair, δ + (e^ε + 1) t (Lemma F.6).

    Args:
        log_delta: ln δ of the indistinguishable pair.
        epsilon: ε of the pair.
        distance: t, total variation distance of each distribution from its member of the pair.
    """
    log_distance = log10(distance) * LN10
    return delta_outputs(transferred_log_delta(epsilon=epsilon, log_delta=log_delta, log_distance=log_distance))


@formula(given="An (ε, δ) report, to be replaced by a report with δ = 0.", bounded=False)
def purification_distance(*, log_delta: GivenLogDelta, epsilon: Epsilon) -> Outputs:
    """Compute the total variation distance of Lemma F.5: δ with one distribution fixed, δ/(e^ε + 1) if both move."""
    both = log_delta - float(np.logaddexp(0.0, epsilon))
    return delta_outputs(log_delta, "distance") | delta_outputs(both, "pair_distance")


@formula(given="An ε-indistinguishable pair, mixed with a common distribution.", bounded=False)
def mixture(*, epsilon: Epsilon, rate: Annotated[float, RATE]) -> Outputs:
    """Compute ε of an ε-indistinguishable pair, mixed at rate q with a common distribution: ln(1 + q(e^ε − 1))."""
    return {"epsilon": subsampled_epsilon(epsilon=epsilon, rate=rate)}


@formula(
    given="A sequence of reports of one client, and the ε₀ that all of them together have.",
    bounded=False,
)
def compositional(
    *, local_epsilons: Annotated[tuple[LocalEpsilon, ...], LOCAL_EPSILONS], local_epsilon: LocalEpsilon
) -> Outputs:
    """Compute the compositionality C = √(Σ(ε₀^r)²)/ε₀ of an algorithm from ε₀^r of its rounds and ε₀ in all.

    `compositionality_used` is max(C, C²), which enters the bounds (erratum E-27).
    """
    compositionality = math.sqrt(math.fsum(epsilon * epsilon for epsilon in local_epsilons)) / local_epsilon
    square = compositionality * compositionality
    return {"compositionality": compositionality, "compositionality_used": max(compositionality, square)}


@formula(given="The example of Appendix F.2.", bounded=False)
def example(
    *,
    compositionality: Annotated[float, COMPOSITIONALITY],
    local_epsilon: LocalEpsilon,
    reading: Reading = "printed",
) -> Outputs:
    """Compute the guarantee of Algorithm 3 of Appendix F.2 over d = 2C² rounds.

    Args:
        compositionality: requested C.
        local_epsilon: ε₀ of the whole algorithm.
        reading: `printed` sends 0 unless r = x, which is not private. `corrected` sends a uniform symbol instead of 0.

    Returns:
        ε of the algorithm and, if corrected, ε₀^r of a round and C.
    """
    rounds = math.ceil(2.0 * compositionality**2 - 1e-9)
    claimed = math.sqrt(rounds)
    if reading == "printed":
        return {"rounds": rounds, "epsilon": "unbounded", "compositionality": claimed}
    round_epsilon = local_epsilon + math.log(rounds) - math.log(math.exp(local_epsilon) + rounds - 1.0)
    return {
        "rounds": rounds,
        "epsilon": local_epsilon,
        "round_epsilon": round_epsilon,
        "compositionality": claimed * round_epsilon / local_epsilon,
    }


def _compare_share(*, share: float, log_delta: GivenLogDelta, clients: int) -> Sides:
    """Compare p with 16 ln(2/δ)/N."""
    return Sides.at_least(share, 16.0 * (math.log(2.0) - log_delta) / clients)


WRONG_DIVERGENCE = Erratum(
    "E-22",
    grade=Grade.PROVED_WRONG,
    printed=(
        "Let P = (1 − q)P₀ + qP₁ and Q = (1 − q)P₀ + qQ₁. Then D_{e^ε'}(P‖Q) ≤ q max{D_{e^ε}(P₁‖P₀), D_{e^ε}(P₀‖Q₁)}"
    ),
    truth=(
        "The last divergence is D_{e^ε}(P₁‖Q₁). Take N(2), N(1), N(0) for P₁, P₀, Q₁, q = 1/2 and ε = .01. The "
        "left side is .3397 and the printed bound .190. At P₀ = (P₁ + Q₁)/2, as it is used, both are at most q "
        "D_{e^ε}(P₁‖Q₁)"
    ),
    test=f"{TESTS}::test_the_mixture_lemma_needs_the_other_divergence",
)
REVEALING_EXAMPLE = Erratum(
    "E-23",
    grade=Grade.PROVED_WRONG,
    printed="Algorithm 3 is ε₀-private: it sends 0 in round r unless x = e_r",
    truth="The round of the first message that is not 0 is x. With a uniform symbol instead of 0 it is exactly ε₀",
    test=f"{TESTS}::test_the_example_reveals_its_input",
)
NOT_MINIMAL = Erratum(
    "E-27",
    grade=Grade.UNCLEAR,
    printed="the minimal (ε₀^r, δ₀^r) of a round; a bound in C²",
    truth="for δ₀ > 0 there is a curve and no minimal pair: fix δ₀^r first; Corollary F.1's C² is max(C, C²)",
    test=f"{TESTS}::test_compositionality_below_one_counts_once",
)

BLANKET = Theorem(
    id="lowy.lemma-f.3",
    title="A shared part of every report hides one of them",
    statement="ε = ln(1 + 8√(ln(4/δ)/(pN)) + 8/(pN)) for p in [16 ln(2/δ)/N, 1]",
    source=Source("lowy2023", "Lemma F.3"),
    status=Status.PROVED,
    conditions=(
        Condition("least-share", "p ≥ 16 ln(2/δ)/N", _compare_share),
        Condition(
            "shared-part",
            (
                "Let x and x' be the two inputs of the client that changes. Every other client's report is (p/2) "
                "R(x) + (p/2) R(x') + (1 − p) times a third distribution"
            ),
        ),
    ),
    formula=blanket,
    examples=({"clients": 10_000, "share": 0.1, "delta": 1e-6},),
)
PURIFIED = Theorem(
    id="lowy.lemma-f.5",
    title="An (ε, δ) report is near one that is ε-private",
    statement=(
        "Let a report's distribution and a fixed one be (ε, δ)-indistinguishable. Then a distribution within "
        "total variation δ of the report's is ε-indistinguishable from the fixed one. If both may move, δ/(e^ε "
        "+ 1) for each is sufficient, and no smaller distance is"
    ),
    source=Source("lowy2023", "Lemma F.5"),
    status=Status.PROVED,
    conditions=(Condition("both-orders", "the distributions are (ε, δ)-indistinguishable in both directions"),),
    formula=purification_distance,
    examples=({"epsilon": 0.5, "delta": 1e-6},),
)
TRANSFER = Theorem(
    id="lowy.lemma-f.6",
    title="Two distributions near an indistinguishable pair",
    statement="distributions within total variation t of the members of an (ε, δ) pair are (ε, δ + (e^ε + 1) t)",
    source=Source("lowy2023", "Lemma F.6"),
    status=Status.PROVED,
    conditions=(delta_below_one(),),
    formula=transfer,
    examples=({"epsilon": 0.5, "distance": 1e-8, "delta": 1e-6},),
)
MIXTURE = Theorem(
    id="lowy.lemma-f.7",
    title="An indistinguishable pair mixed with a common distribution",
    statement=(
        "two ε-indistinguishable distributions, mixed at rate q with a common one from which each is "
        "ε-indistinguishable too, are ln(1 + q(e^ε − 1))-indistinguishable"
    ),
    source=Source("lowy2023", "Lemma F.7"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "near-the-common-distribution",
            "each distribution is ε-indistinguishable from the common one, as it is from the mean of both",
        ),
    ),
    errata=(WRONG_DIVERGENCE,),
    formula=mixture,
    examples=({"epsilon": 1.0, "rate": 0.25},),
)
DEFINITION = Theorem(
    id="lowy.definition-4",
    title="C-compositional algorithms",
    statement="an ε₀-private algorithm whose rounds are ε₀^r-private is C-compositional with C = √(Σ(ε₀^r)²)/ε₀",
    source=Source("lowy2023", "Definition 4"),
    status=Status.PROVED,
    conditions=(Condition("fixed-parameters", "every round's (ε₀^r, δ₀^r) is fixed, δ₀^r first"),),
    errata=(NOT_MINIMAL,),
    formula=compositional,
    examples=({"local_epsilons": [0.1, 0.1, 0.2], "local_epsilon": 0.4},),
)
EXAMPLE = Theorem(
    id="lowy.appendix-f.2",
    title="An algorithm that is C-compositional for a large C",
    statement="Algorithm 3, d = 2C² rounds that send 0 unless the input is that round's, is ε₀-private",
    source=Source("lowy2023", "Appendix F.2, Algorithm 3"),
    status=Status.REFUTED,
    errata=(REVEALING_EXAMPLE,),
    formula=example,
    examples=({"compositionality": 2.0, "local_epsilon": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (BLANKET, PURIFIED, TRANSFER, MIXTURE, DEFINITION, EXAMPLE)
