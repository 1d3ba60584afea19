"""Appendices B and D.1 of Lowy and Razaviyayn, and Definition 4 for two kinds of algorithm.

Appendix B: a weighted sum Σ p_i F_i of the clients' losses is the mean of F̃_i = p_i N F_i. Every constant of a client
is scaled by p_i N, also the sensitivity of its messages (E-30). Appendix D.1: a weaker observer learns no more.
"""

from __future__ import annotations

import math
from typing import Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import FormulaRequest, formula
from epsilond.accountants.quantities import (
    GivenLogDelta,
    LocalEpsilon,
    Quantity,
    Rounds,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import Drift, advanced_composition
from epsilond.accountants.theorems.papers.lowy_razaviyayn.errata import DRIFT, OWN_SENSITIVITY
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_lemmas import LOCAL_EPSILONS
from epsilond.accountants.verdict import Verdict

MOST_CLIENTS = 10_000
"""Largest number of clients in a list of weights."""
WEIGHTS = Quantity(symbol="p_i", description="weight of each client's loss; they sum to 1")
LIPSCHITZ_EACH = Quantity(symbol="L_i", unit="loss/length", description="gradient bound of each client's records")
SMOOTHNESS_EACH = Quantity(symbol="β_i", unit="loss/length²", description="smoothness of each client's losses")
CONVEXITY_EACH = Quantity(symbol="μ_i", unit="loss/length²", description="strong convexity of each client's losses")


def scale_by_weights(weights: tuple[float, ...], values: tuple[float, ...]) -> tuple[float, ...]:
    """Compute the constants p_i N x_i of the weighted losses p_i N F_i of N clients.

    Args:
        weights: weight p_i of each client.
        values: constant x_i of each client's loss F_i.

    Returns:
        The scaled constants, in the order of the clients.
    """
    clients = len(weights)
    return tuple(weight * clients * value for weight, value in zip(weights, values, strict=True))


@request
class WeightInputs:
    """Weights and constants of the losses, one for each client."""

    weights: Annotated[tuple[float, ...], WEIGHTS]
    lipschitz: Annotated[tuple[float, ...], LIPSCHITZ_EACH]
    smoothness: Annotated[tuple[float, ...], SMOOTHNESS_EACH]
    strong_convexity: Annotated[tuple[float, ...], CONVEXITY_EACH]

    def check(self) -> None:
        """Check that all lists have the same length and entries in range, and that the weights sum to 1.

        Raises:
            InvalidInput: there are no weights or more than `MOST_CLIENTS`, a length differs, or an entry is negative or
                not finite. Also if the sum differs from 1 by more than 1e-9.
        """
        count = len(self.weights)
        if not 1 <= count <= MOST_CLIENTS:
            raise InvalidInput.at("/weights", "has too few or too many entries", allowed=f"1 to {MOST_CLIENTS}")
        for name in ("lipschitz", "smoothness", "strong_convexity", "weights"):
            values: tuple[float, ...] = getattr(self, name)
            if len(values) != count:
                raise InvalidInput.at(f"/{name}", "needs one value for each weight", allowed=f"{count} values")
            if not all(math.isfinite(value) and value >= 0.0 for value in values):
                raise InvalidInput.at(f"/{name}", "has a value that is out of range", allowed="≥ 0")
        if abs(math.fsum(self.weights) - 1.0) > 1e-9:
            raise InvalidInput.at("/weights", "must sum to 1")


def _check_rounds(record: FormulaRequest) -> None:
    """Check that the request has at least one round.

    Args:
        record: the request, with the ε₀ of each round in `local_epsilons`.

    Raises:
        InvalidInput: the list is empty.
    """
    if not record.local_epsilons:
        raise InvalidInput.at("/local_epsilons", "has no entry")


def weighted_constants(inputs: WeightInputs) -> Outputs:
    """Compute the Lipschitz constants, smoothness and strong convexity of weighted losses p_i N F_i.

    The mean of these losses over N clients is the weighted mean Σ p_i F_i.

    Args:
        inputs: weights p_i, and Lipschitz constant L_i, smoothness β_i and strong convexity μ_i of each client's loss.

    Returns:
        `lipschitz`, `smoothness`, `strong_convexity`: the constants of each client's weighted loss.
        `largest_lipschitz`, `largest_smoothness`, `smallest_strong_convexity`: their extreme values over all clients.
        `sensitivity_factors`: 2 p_i N L_i for each client, the sensitivity of its message times the batch size.
    """
    lipschitz = scale_by_weights(inputs.weights, inputs.lipschitz)
    smoothness = scale_by_weights(inputs.weights, inputs.smoothness)
    convexity = scale_by_weights(inputs.weights, inputs.strong_convexity)
    return {
        "lipschitz": list(lipschitz),
        "smoothness": list(smoothness),
        "strong_convexity": list(convexity),
        "largest_lipschitz": max(lipschitz),
        "largest_smoothness": max(smoothness),
        "smallest_strong_convexity": min(convexity),
        "sensitivity_factors": [2.0 * value for value in lipschitz],
    }


@formula(given="The guarantee of every client's messages for each of its records.", bounded=False)
def weaker_observers(*, log_delta: GivenLogDelta, local_epsilon: LocalEpsilon) -> Outputs:
    """Return the guarantee against observers of a trusted server's or shuffler's output: that of the messages.

    These outputs are computed from the clients' messages, so they reveal no more (post-processing).

    Args:
        log_delta: natural logarithm of δ of the messages.
        local_epsilon: ε₀ of the messages, for each record.

    Returns:
        `central_epsilon` and `shuffled_epsilon`, which are both ε₀, and δ.
    """
    return {"central_epsilon": local_epsilon, "shuffled_epsilon": local_epsilon, **delta_outputs(log_delta)}


@formula(given="An algorithm that uses every record once, in rounds of the same ε₀.", bounded=False)
def one_pass_compositionality(*, local_epsilon: LocalEpsilon, rounds: Rounds) -> Outputs:
    """Compute the compositionality C = √R of R rounds with ε₀ each, if every record is used in one round.

    The compositionality of an algorithm is √(Σ_r (ε₀^r)²)/ε₀, where ε₀^r is the ε of round r and ε₀ that of all rounds.
    Each round may have the whole ε₀, because no other round uses its records.

    Args:
        local_epsilon: ε₀ of a round, and of all rounds together.
        rounds: number R of rounds.

    Returns:
        `compositionality` C, and `round_epsilon`, the ε₀ of a round.
    """
    return {"compositionality": math.sqrt(rounds), "round_epsilon": local_epsilon}


@formula(
    given="Rounds with ε₀ by advanced composition. Give one of delta and log10_delta: its slack δ'.",
    checks=(_check_rounds,),
    bounded=False,
)
def advanced_compositionality(
    *,
    local_epsilons: Annotated[tuple[LocalEpsilon, ...], LOCAL_EPSILONS],
    log_delta: GivenLogDelta,
    reading: Reading = "printed",
) -> Outputs:
    """Compute ε₀ of all rounds by advanced composition, and the compositionality C = √(Σ_r (ε₀^r)²)/ε₀.

    Args:
        local_epsilons: ε₀^r of each round.
        log_delta: natural logarithm of the slack δ' of advanced composition.
        reading: version of the formula. `printed` has the term Σ ε(e^ε − 1) of Dwork and Roth for the mean of the
            privacy loss; `corrected` has its largest possible value, the smaller Σ ε tanh(ε/2).

    Returns:
        `local_epsilon`, ε₀ of all rounds, and `compositionality` C.
    """
    round_count = len(local_epsilons)
    drift: Drift = "dwork-roth" if reading == "printed" else "tanh"
    total = advanced_composition(
        epsilons=local_epsilons,
        log_deltas=(-math.inf,) * round_count,  # δ = 0 in each round
        log_slack=log_delta,
        drift=drift,
    )
    norm = math.sqrt(math.fsum(epsilon * epsilon for epsilon in local_epsilons))
    return {"local_epsilon": total.epsilon, "compositionality": norm / total.epsilon}


def _compare_weights(inputs: WeightInputs) -> Sides:
    """Compare the smallest weight with 0. It may be 0 only if no loss is strongly convex."""
    is_strongly_convex = max(inputs.strong_convexity) > 0.0
    smallest = min(inputs.weights)
    holds = smallest > 0.0 or not is_strongly_convex
    return Sides(Verdict.of(holds), smallest, 0.0)


def _compare_slack(*, log_delta: GivenLogDelta) -> Sides:
    """Compare the slack δ' with its largest value e^{−1/2}."""
    return Sides.at_most(math.exp(log_delta), math.exp(-0.5))


WEIGHTED = Theorem(
    id="lowy.appendix-b",
    title="Weighted clients as equal ones",
    statement=(
        "The weighted sum Σ p_i F_i of N clients' losses is the mean of F~_i = p_i N F_i. The constants of F~_i are "
        "p_i N times those of F_i: L~ = max p_i N L_i, β~ = max p_i N β_i, μ~ = min p_i N μ_i. The noise of client i "
        "is for L~_i = p_i N L_i"
    ),
    source=Source("lowy2023", "Appendix B"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "positive-weights", "every client's weight p_i is above 0, if strong convexity is used", _compare_weights
        ),
        Condition(
            "different-clients",
            "the bounds used allow clients to differ, since the weighted losses F~_i are not identical",
        ),
    ),
    errata=(OWN_SENSITIVITY,),
    inputs=WeightInputs,
    formula=weighted_constants,
    examples=(
        {
            "weights": [0.5, 0.3, 0.2],
            "lipschitz": [1.0, 1.0, 2.0],
            "smoothness": [1.0, 2.0, 3.0],
            "strong_convexity": [0.1, 0.1, 0.2],
        },
    ),
)
OBSERVED = Theorem(
    id="lowy.appendix-d.1",
    title="Privacy against an observer of all messages holds against weaker observers",
    statement=(
        "Let (ε₀, δ₀) hold for every record against all messages. It then holds with a trusted server and with "
        "a trusted shuffler. Their outputs are computed from the messages. The converse fails"
    ),
    source=Source("lowy2023", "Appendix D.1"),
    status=Status.PROVED,
    formula=weaker_observers,
    examples=({"local_epsilon": 1.0, "delta": 1e-6},),
)
ONE_PASS = Theorem(
    id="lowy.definition-4.one-pass",
    title="One-pass algorithms are √R-compositional",
    statement=(
        "An algorithm whose rounds use disjoint records spends its whole ε₀ in each of R rounds. It is C-compositional "
        "with C = √R"
    ),
    source=Source("lowy2023", "Definition 4 and the text after it"),
    status=Status.PROVED,
    conditions=(Condition("disjoint-batches", "every record is used in one round at most"),),
    formula=one_pass_compositionality,
    examples=({"local_epsilon": 1.0, "rounds": 16},),
)
COMPOSED = Theorem(
    id="lowy.definition-4.advanced-composition",
    title="Algorithms accounted for by advanced composition are 1-compositional",
    statement=(
        "Let ε₀ = √(2 ln(1/δ') Σ(ε₀^r)²) + Σ ε₀^r(e^{ε₀^r} − 1). Then C = √(Σ(ε₀^r)²)/ε₀ ≤ 1 for δ' ≤ e^{−1/2} "
        "(printed: below 1/3). The same holds with Σ ε₀^r tanh(ε₀^r/2) for the last sum"
    ),
    source=Source("lowy2023", "Definition 4 and the text after it"),
    status=Status.PROVED,
    conditions=(Condition("small-slack", "the slack δ' is at most e^{−1/2}", _compare_slack),),
    errata=(DRIFT,),
    formula=advanced_compositionality,
    examples=({"local_epsilons": [0.1, 0.1, 0.2], "delta": 1e-6},),
)

THEOREMS: tuple[Theorem, ...] = (WEIGHTED, OBSERVED, ONE_PASS, COMPOSED)
