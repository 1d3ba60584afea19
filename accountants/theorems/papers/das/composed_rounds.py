"""Privacy in Theorem 2 of Das et al.: composition over rounds, and an invalid amplification by client sampling.

Rounds of (ε₀, δ₀) compose by Kairouz, Oh and Viswanath. The factor 2r/n for drawing r of n clients is wrong for three
reasons. The untrusted server draws the clients itself. The draw hides the message of a client only among those of other
clients, which have arbitrary data. The factor is applied once to a run that draws in every round.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    Delta,
    Dimension,
    Epsilon,
    LocalDelta,
    ParticipantFields,
    Quantity,
    Rate,
    Rounds,
    delta_outputs,
    request,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.composition.classical import subsampled_epsilon
from epsilond.accountants.theorems.vacuous import delta_below_one

_TESTS = "tests/theorems/papers/das/test_composed_rounds.py"
Amplified = Literal["none", "record", "client"]
AMPLIFIED = Quantity(
    description=(
        "unit that a secret draw of clients amplifies. Against the server there is none. For a record δ₀ is "
        "amplified. For a client ε₀ and δ₀ are, if its whole message is within the round's guarantee"
    )
)


def round_epsilon(*, epsilon: float, delta: float, rounds: int) -> float:
    """Compute the printed ε₀ of a round, ε₀ = ε/(8 √(2K log(1/δ))).

    Args:
        epsilon: ε of the statement; the run has ε/8 + ε²/(256 log(1/δ)).
        delta: slack δ of the composition.
        rounds: number K of rounds.
    """
    return epsilon / (8.0 * math.sqrt(-2.0 * rounds * math.log(delta)))


def printed_composition(*, epsilon: float, delta: float, rounds: int) -> float:
    """Compute ε of K composed rounds by equation (20) of the paper, ε₀ √(2K log(1/δ)) + K ε₀ tanh(ε₀/2).

    Args:
        epsilon: ε₀ of each round.
        delta: slack δ of the composition.
        rounds: number K of rounds.
    """
    return epsilon * math.sqrt(-2.0 * rounds * math.log(delta)) + rounds * epsilon * math.tanh(0.5 * epsilon)


def best_composition(*, epsilon: float, delta: float, rounds: int) -> float:
    """Compute ε of K composed rounds with δ = 0 each, by Kairouz, Oh and Viswanath, Theorem 3.4 (the least bound).

    Args:
        epsilon: ε₀ of each round.
        delta: slack δ of the composition.
        rounds: number K of rounds.
    """
    drift = rounds * epsilon * math.tanh(0.5 * epsilon)
    inner = math.log(math.e + math.sqrt(rounds) * epsilon / delta)
    third = drift + epsilon * math.sqrt(2.0 * rounds * inner)
    return min(rounds * epsilon, printed_composition(epsilon=epsilon, delta=delta, rounds=rounds), third)


@request
class RunInputs(ParticipantFields):
    """A run of K rounds with r of n clients each."""

    epsilon: Epsilon
    delta: Delta
    rounds: Rounds
    dimension: Dimension

    @property
    def composed_epsilon(self) -> float:
        """ε/8 + ε²/(256 log 1/δ), the bound (22) on ε̂ of the run."""
        return self.epsilon / 8.0 + self.epsilon**2 / (-256.0 * math.log(self.delta))


def theorem_2(inputs: RunInputs) -> Outputs:
    """Compute ε₀ of a round by Theorem 2, the bound (22) on ε of all rounds, and the claimed ε and δ of the run."""
    claimed = inputs.rounds * math.exp2(-inputs.dimension) + inputs.delta
    return {
        "round_epsilon": round_epsilon(epsilon=inputs.epsilon, delta=inputs.delta, rounds=inputs.rounds),
        "composed_epsilon": inputs.composed_epsilon,
        "claimed_epsilon": 2.0 * inputs.participants / inputs.clients * inputs.composed_epsilon,
        **delta_outputs(math.log(claimed), "claimed_delta"),
    }


EPSILON_RANGE = Condition("epsilon-range", "ε < 6", lambda inputs: Sides.below(inputs.epsilon, 6.0))
DELTA_RANGE = Condition("delta-range", "δ < e^(−9/4)", lambda inputs: Sides.below(inputs.delta, math.exp(-2.25)))
COMPOSED_EPSILON = Condition("composed-epsilon", "ε̂ < 1", lambda inputs: Sides.below(inputs.composed_epsilon, 1.0))
THEOREM_2 = Theorem(
    id="das.2",
    title="Privacy of DP-NormFedAvg over rounds, as printed: false",
    statement=(
        "K rounds at ε₀ = ε/(8√(2K log 1/δ)) are ((2r/n) ε̂, 2^−d K + δ)-private. Here ε̂ ≤ ε/8 + ε²/(256 log "
        "1/δ). FALSE: 2^−d is from Theorem 1 (das.1), and 2r/n is no amplification. Drawing clients leaves a "
        "record's ε unchanged and multiplies its δ by r/n. At r ≥ n/2, as in the experiments, 2r/n is no gain "
        "even as printed"
    ),
    source=Source("das2021", "Theorem 2, privacy"),
    status=Status.REFUTED,
    conditions=(
        EPSILON_RANGE,
        DELTA_RANGE,
        COMPOSED_EPSILON,
        delta_below_one("claimed_delta"),
    ),
    errata=(
        Erratum(
            "D-8",
            grade=Grade.PROVED_WRONG,
            printed="amplification by sampling clients: a factor 2r/n on ε",
            truth=(
                "For a record, δ' = (r/n) δ at the same ε, and no smaller ε is valid. With n = 50, r = 1, ε₀ = "
                "0.3 the claimed ε = 0.012 needs δ ≥ 2.6e-3. A client is amplified if its whole message is "
                "within ε₀ and the draw is secret. A round then has log(1 + (r/n)(e^ε₀ − 1))"
            ),
            test=f"{_TESTS}::test_drawing_clients_does_not_shrink_a_records_epsilon",
        ),
        Erratum(
            "D-9",
            grade=Grade.REFINEMENT,
            printed="δ = 2^−d K + δ",
            truth="With a true δ₀, 1 − (1 − δ₀)^K (1 − δ). Over clients it is the largest, not the sum",
            test=f"{_TESTS}::test_rounds_compose_to_the_published_figures",
        ),
        Erratum(
            "D-10",
            grade=Grade.REFINEMENT,
            printed="ε < 6 and δ < e^(−9/4) give ε̂ < 1",
            truth="They do, with room to spare: ε̂ = 1 at (6, e^(−9/16)). Nothing needs them",
            test=f"{_TESTS}::test_each_condition_violated_once",
        ),
    ),
    inputs=RunInputs,
    formula=theorem_2,
    examples=({"epsilon": 1.0, "delta": 1e-9, "rounds": 400, "clients": 50, "participants": 25, "dimension": 50},),
)


@request
class InverseInputs:
    """The requested ε̂ of a run, and the slack δ of its composition."""

    composed_epsilon: Epsilon
    delta: Delta


def equation_22(inputs: InverseInputs) -> Outputs:
    """Compute the ε of Theorem 2 for a run with composed ε̂: the solution of ε/8 + ε²/(256 log 1/δ) = ε̂."""
    log_inverse = -math.log(inputs.delta)
    target = inputs.composed_epsilon
    epsilon = 2.0 * target / (0.125 + math.sqrt(1.0 / 64.0 + 4.0 * target / (256.0 * log_inverse)))
    return {"epsilon": epsilon}


EQUATION_22 = Theorem(
    id="das.equation-22",
    title="The ε of Theorem 2 for a run of given ε̂",
    statement="ε̂ ≤ ε/8 + ε²/(256 log 1/δ), solved for ε",
    source=Source("das2021", "Equation (22)"),
    status=Status.PROVED,
    inputs=InverseInputs,
    formula=equation_22,
    examples=({"composed_epsilon": 0.1, "delta": 1e-9},),
)


@formula(given="Rounds of a true (ε₀, δ₀), and the unit that the draw of clients amplifies.", bounded=False)
def rounds(
    *,
    round_epsilon: Epsilon,
    round_delta: LocalDelta,
    rounds: Rounds,
    slack_delta: Delta,
    amplified: Annotated[Amplified, AMPLIFIED] = "none",
    rate: Rate = 1.0,
) -> Outputs:
    """Compute ε and δ of one round, and of K rounds by composition, if the draw of clients may amplify privacy.

    Args:
        round_epsilon: ε₀ of a client's message.
        round_delta: δ₀ of a client's message.
        rounds: number K of rounds.
        slack_delta: slack δ of the composition.
        amplified: the unit that the secret draw of clients amplifies: `none`, a `record` (δ₀ only), or a `client`.
        rate: q, the share of the clients that is drawn in a round.
    """
    epsilon, delta = round_epsilon, round_delta
    if amplified == "client":
        epsilon = subsampled_epsilon(epsilon=round_epsilon, rate=rate)
    if amplified != "none":
        delta = round_delta * rate
    log_delta = math.log(delta) if delta > 0.0 else -math.inf
    log_one_minus_delta = rounds * math.log1p(-delta) + math.log1p(-slack_delta)
    return {
        "round_epsilon": epsilon,
        **delta_outputs(log_delta, "round_delta"),
        "epsilon": best_composition(epsilon=epsilon, delta=slack_delta, rounds=rounds),
        **delta_outputs(math.log(-math.expm1(log_one_minus_delta))),
        "printed_form_epsilon": printed_composition(epsilon=epsilon, delta=slack_delta, rounds=rounds),
    }


ROUNDS_OF_CLIENTS = Theorem(
    id="epsilond.rounds-of-clients",
    title="Rounds with a random subset of the clients",
    statement=(
        "ε_K is the least of Kε, ε√(2K log 1/δ) + Kε tanh(ε/2) and Kε tanh(ε/2) + ε√(2K log(e + √K ε/δ)). Over "
        "the rounds, δ_K = 1 − (1 − δ₁)^K (1 − δ). The server: ε = ε₀, δ₁ = δ₀. A record, if the draw is "
        "secret: ε = ε₀, δ₁ = qδ₀. A client within (ε₀, δ₀) as a whole: ε = log(1 + q(e^ε₀ − 1)), δ₁ = qδ₀"
    ),
    source=Source("kairouz2015composition", "Theorems 3.3 and 3.4, with docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(Condition("clients-are-disjoint", "no person has data at two clients"),),
    formula=rounds,
    examples=({"round_epsilon": 0.01, "round_delta": 1e-12, "rounds": 400, "slack_delta": 1e-9},),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2, EQUATION_22, ROUNDS_OF_CLIENTS)
