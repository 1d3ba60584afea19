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
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import subsampled_epsilon
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import NOT_MINIMAL, REVEALING_EXAMPLE, WRONG_DIVERGENCE
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_round import (
    LN10,
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
    """Compute the ε of shuffling N reports, one of which hides among the others (Lemma F.3 of Lowy and Razaviyayn).

        ε = ln(1 + 8√(ln(4/δ)/(pN)) + 8/(pN))

    With probability p a report is drawn from a distribution that does not depend on its input, the privacy blanket.

    Args:
        log_delta: natural logarithm of δ.
        clients: number N of clients.
        share: p, in (0, 1].

    Returns:
        `epsilon`: ε of the shuffled reports at δ.
    """
    blanket_reports = share * clients  # pN, the expected number of reports from the blanket
    root = math.sqrt((math.log(4.0) - log_delta) / blanket_reports)
    return {"epsilon": math.log1p(8.0 * root + 8.0 / blanket_reports)}


@formula(given="An (ε, δ) pair of distributions, and the distance of two other distributions from it.", bounded=False)
def transfer(*, log_delta: GivenLogDelta, epsilon: Epsilon, distance: Annotated[float, DISTANCE]) -> Outputs:
    """Compute the δ at ε of two distributions that are near two (ε, δ)-indistinguishable distributions.

    Each distribution is within total variation distance t of one of the two indistinguishable ones. The result is
    δ + (e^ε + 1) t (Lemma F.6 of Lowy and Razaviyayn).

    Args:
        log_delta: natural logarithm of δ of the indistinguishable distributions.
        epsilon: ε of the indistinguishable distributions.
        distance: total variation distance t.

    Returns:
        `delta`: δ of the two distributions at ε, with its decimal logarithm.
    """
    log_distance = log10(distance) * LN10
    return delta_outputs(transferred_log_delta(epsilon=epsilon, log_delta=log_delta, log_distance=log_distance))


@formula(given="An (ε, δ) report, to be replaced by a report with δ = 0.", bounded=False)
def purification_distance(*, log_delta: GivenLogDelta, epsilon: Epsilon) -> Outputs:
    """Compute how far (ε, δ)-indistinguishable distributions are from ε-indistinguishable ones (Lemma F.5).

    Distances are in total variation. The source is the appendix of Lowy and Razaviyayn.

    Args:
        log_delta: natural logarithm of δ.
        epsilon: ε of the two distributions.

    Returns:
        `distance`: δ, which suffices if only one of the distributions is replaced.
        `pair_distance`: δ/(e^ε + 1), which suffices for each if both are replaced.
    """
    log_pair_distance = log_delta - float(np.logaddexp(0.0, epsilon))
    return delta_outputs(log_delta, "distance") | delta_outputs(log_pair_distance, "pair_distance")


@formula(given="An ε-indistinguishable pair, mixed with a common distribution.", bounded=False)
def mixture(*, epsilon: Epsilon, rate: Annotated[float, RATE]) -> Outputs:
    """Compute the ε of two ε-indistinguishable distributions after both are mixed with the same third distribution.

    It is ln(1 + q(e^ε − 1)), where q is the weight of the two distributions in their mixtures.

    Args:
        epsilon: ε of the two distributions.
        rate: the weight q, a probability.

    Returns:
        `epsilon`: ε of the mixtures.
    """
    return {"epsilon": subsampled_epsilon(epsilon=epsilon, rate=rate)}


@formula(
    given="A sequence of reports of one client, and the ε₀ that all of them together have.",
    bounded=False,
)
def compositional(
    *, local_epsilons: Annotated[tuple[LocalEpsilon, ...], LOCAL_EPSILONS], local_epsilon: LocalEpsilon
) -> Outputs:
    """Compute the compositionality C = √(Σ_r (ε₀^r)²)/ε₀ of an algorithm (Definition 4 of Lowy and Razaviyayn).

    Args:
        local_epsilons: ε₀^r of a client's report in each round r.
        local_epsilon: ε₀ of all reports of a client together.

    Returns:
        `compositionality`: C.
        `compositionality_used`: max(C, C²), the factor in a valid form of Corollary F.1. The printed factor C² is too
        small if C < 1 (erratum E-27).
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
    """Compute the guarantee of Algorithm 3 of Lowy and Razaviyayn, an example of a large compositionality C.

    The algorithm has d = ⌈2C²⌉ rounds. A client's input x is the number of a round. In round x the client sends a
    randomised symbol. The compositionality is C = √(Σ_r (ε₀^r)²)/ε₀, where ε₀^r is the ε of the report in round r.

    Args:
        compositionality: requested C ≥ 1.
        local_epsilon: ε₀ of all reports of a client together.
        reading: version of the algorithm. In the other rounds, the `printed` one sends 0, which reveals x. The
            `corrected` one sends a uniform symbol.

    Returns:
        `rounds`: the number d of rounds.
        `epsilon`: ε of the algorithm; "unbounded" for the paper's version.
        `round_epsilon`: ε₀^r = ln(d e^ε₀/(e^ε₀ + d − 1)), for the corrected version only.
        `compositionality`: C, which is √d in the paper's version and √d ε₀^r/ε₀ in the corrected one.
    """
    rounding_margin = 1e-9  # the square of a rounded C, such as √2, must not give one round too many
    rounds = math.ceil(2.0 * compositionality**2 - rounding_margin)
    root = math.sqrt(rounds)
    if reading == "printed":
        return {"rounds": rounds, "epsilon": "unbounded", "compositionality": root}
    round_epsilon = local_epsilon + math.log(rounds) - math.log(math.exp(local_epsilon) + rounds - 1.0)
    return {
        "rounds": rounds,
        "epsilon": local_epsilon,
        "round_epsilon": round_epsilon,
        "compositionality": root * round_epsilon / local_epsilon,
    }


def _compare_share(*, share: float, log_delta: GivenLogDelta, clients: int) -> Sides:
    """Compare the share p of a report that is the same for all inputs with its least value 16 ln(2/δ)/N.

    Args:
        share: p, in (0, 1].
        log_delta: natural logarithm of δ.
        clients: number N of clients.

    Returns:
        The two sides of the condition, p and the least share. It holds if p is not smaller.
    """
    least_share = 16.0 * (math.log(2.0) - log_delta) / clients
    return Sides.at_least(share, least_share)


BLANKET = Theorem(
    id="lowy.lemma-f.3",
    title="A shared part of every report hides one of them",
    statement=(
        "Every other client's report shares a part of weight p with both possible reports of the client that changes. "
        "Shuffled, the N reports are then (ε, δ)-indistinguishable with ε = ln(1 + 8√(ln(4/δ)/(pN)) + 8/(pN)), for p "
        "in [16 ln(2/δ)/N, 1]"
    ),
    source=Source("lowy2023", "Lemma F.3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "least-share", "the shared part of a report has weight p ≥ 16 ln(2/δ)/N, for N clients", _compare_share
        ),
        Condition(
            "shared-part",
            (
                "Let x and x' be the two inputs of the client that changes. Every other client's report has the "
                "distribution (p/2) R(x) + (p/2) R(x') + (1 − p) times a third one"
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
    statement=(
        "Let two distributions be within total variation t of the members of an (ε, δ)-indistinguishable pair. They "
        "are then (ε, δ + (e^ε + 1) t)-indistinguishable"
    ),
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
        "Two ε-indistinguishable distributions are mixed at rate q with a common one, from which each is "
        "ε-indistinguishable too. The mixtures are ln(1 + q(e^ε − 1))-indistinguishable"
    ),
    source=Source("lowy2023", "Lemma F.7"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "near-the-common-distribution",
            "each distribution is ε-indistinguishable from the common one, which holds if that is the mean of both",
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
    conditions=(
        Condition("fixed-parameters", "the parameters (ε₀^r, δ₀^r) of every round r are fixed, δ₀^r before ε₀^r"),
    ),
    errata=(NOT_MINIMAL,),
    formula=compositional,
    examples=({"local_epsilons": [0.1, 0.1, 0.2], "local_epsilon": 0.4},),
)
EXAMPLE = Theorem(
    id="lowy.appendix-f.2",
    title="An algorithm that is C-compositional for a large C",
    statement=(
        "Algorithm 3 has d = 2C² rounds. In each round it sends 0 unless the input is that of the round. As printed, "
        "it is ε₀-private"
    ),
    source=Source("lowy2023", "Appendix F.2, Algorithm 3"),
    status=Status.REFUTED,
    errata=(REVEALING_EXAMPLE,),
    formula=example,
    examples=({"compositionality": 2.0, "local_epsilon": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (BLANKET, PURIFIED, TRANSFER, MIXTURE, DEFINITION, EXAMPLE)
