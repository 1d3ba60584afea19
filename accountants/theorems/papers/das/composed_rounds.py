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
    """Compute the privacy parameter ε₀ = ε/(8 √(2K log(1/δ))) of a round in Theorem 2 of Das et al.

    Args:
        epsilon: parameter ε > 0 of the theorem. The ε of all rounds is at most ε/8 + ε²/(256 log(1/δ)).
        delta: slack δ of the composition, in (0, 1): the part of the total δ that the composition adds.
        rounds: number K of rounds, at least 1.

    Returns:
        The privacy parameter ε₀ of a single round.
    """
    return epsilon / (8.0 * math.sqrt(-2.0 * rounds * math.log(delta)))


def printed_composition(*, epsilon: float, delta: float, rounds: int) -> float:
    """Compute ε of K composed rounds by equation (20) of the paper, ε₀ √(2K log(1/δ)) + K ε₀ tanh(ε₀/2).

    It is one of three bounds of Kairouz, Oh and Viswanath. `best_composition` takes the smallest.

    Args:
        epsilon: privacy parameter ε₀ ≥ 0 of each round.
        delta: slack δ of the composition, in (0, 1): the part of the total δ that the composition adds.
        rounds: number K of rounds, at least 1.

    Returns:
        The privacy parameter ε of all rounds together, not rounded up.
    """
    deviation = epsilon * math.sqrt(-2.0 * rounds * math.log(delta))
    drift = rounds * epsilon * math.tanh(0.5 * epsilon)
    return deviation + drift


def best_composition(*, epsilon: float, delta: float, rounds: int) -> float:
    """Compute the ε of K composed ε₀-private rounds, as the least bound of Kairouz, Oh and Viswanath, Theorem 3.4.

    The three bounds are:

        Kε₀,  ε₀√(2K ln(1/δ)) + Kε₀ tanh(ε₀/2),  ε₀√(2K ln(e + √K ε₀/δ)) + Kε₀ tanh(ε₀/2).

    Args:
        epsilon: privacy parameter ε₀ ≥ 0 of each round, which has δ₀ = 0.
        delta: slack δ of the composition, in (0, 1), which is the δ of all rounds.
        rounds: number K of rounds, at least 1.

    Returns:
        The privacy parameter ε of all rounds together, not rounded up.
    """
    basic = rounds * epsilon
    printed = printed_composition(epsilon=epsilon, delta=delta, rounds=rounds)
    drift = rounds * epsilon * math.tanh(0.5 * epsilon)
    logarithm = math.log(math.e + math.sqrt(rounds) * epsilon / delta)
    third_bound = drift + epsilon * math.sqrt(2.0 * rounds * logarithm)
    return min(basic, printed, third_bound)


@request
class RunInputs(ParticipantFields):
    """A run of K rounds, in each of which r of n clients participate, and the ε and δ of Theorem 2."""

    epsilon: Epsilon
    delta: Delta
    rounds: Rounds
    dimension: Dimension

    @property
    def composed_epsilon(self) -> float:
        """Equation (22) of Das et al., ε/8 + ε²/(256 log 1/δ): an upper bound on the ε of all K rounds together.

        ε = `epsilon` is a parameter of the theorem, not the ε of the run. It sets the ε₀ of a round (`round_epsilon`)
        such that ε₀√(2K log(1/δ)), the leading term of the composition, is ε/8.
        """
        return self.epsilon / 8.0 + self.epsilon**2 / (-256.0 * math.log(self.delta))


def theorem_2(inputs: RunInputs) -> Outputs:
    """Compute the ε₀ of a round by Theorem 2 of Das et al., and the ε and δ that it states for all K rounds.

    Args:
        inputs: the parameters ε and δ of the theorem, K rounds, r of n clients in each, and messages of d coordinates.

    Returns:
        `round_epsilon`: ε₀ of a round, in nats.
        `composed_epsilon`: bound (22) of the paper on the ε of all rounds.
        `claimed_epsilon`: the stated ε, which is `composed_epsilon` times 2r/n for drawing r of n clients.
        `claimed_delta`: the stated δ of all rounds, K 2^−d + δ.
    """
    # The theorem states δ₀ = 2^−d for each round.
    claimed_delta = inputs.rounds * math.exp2(-inputs.dimension) + inputs.delta
    return {
        "round_epsilon": round_epsilon(epsilon=inputs.epsilon, delta=inputs.delta, rounds=inputs.rounds),
        "composed_epsilon": inputs.composed_epsilon,
        "claimed_epsilon": 2.0 * inputs.participants / inputs.clients * inputs.composed_epsilon,
        **delta_outputs(math.log(claimed_delta), "claimed_delta"),
    }


EPSILON_RANGE = Condition(
    "epsilon-range", "the parameter ε of Theorem 2 is below 6 (ε < 6)", lambda inputs: Sides.below(inputs.epsilon, 6.0)
)
DELTA_RANGE = Condition(
    "delta-range",
    "the slack δ of the composition is below e^(−9/4)",
    lambda inputs: Sides.below(inputs.delta, math.exp(-2.25)),
)
COMPOSED_EPSILON = Condition(
    "composed-epsilon",
    "the ε of all rounds, ε̂ = ε/8 + ε²/(256 log 1/δ), is below 1",
    lambda inputs: Sides.below(inputs.composed_epsilon, 1.0),
)
THEOREM_2 = Theorem(
    id="das.2",
    title="Privacy of DP-NormFedAvg over rounds, as printed: false",
    statement=(
        "Theorem 2 states that K rounds at ε₀ = ε/(8√(2K log 1/δ)) are ((2r/n) ε̂, 2^−d K + δ)-private. Here "
        "r of n clients take part in a round, d is the dimension and ε̂ ≤ ε/8 + ε²/(256 log 1/δ). This is "
        "FALSE, because 2^−d is from Theorem 1 (das.1) and 2r/n is not amplification. Drawing clients leaves a "
        "record's ε unchanged and multiplies its δ by r/n. At r ≥ n/2, as in the experiments, 2r/n is not a gain "
        "even as printed."
    ),
    source=Source("das2021", "Theorem 2, privacy, (20) and (21)"),
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
            place="Theorem 2 (privacy), and Appendix C after (22)",
            printed=(
                "The paper states that a uniform draw of r of the n clients in each round multiplies ε̂, "
                "the ε of all rounds, by 2r/n. It asks for ε̂ < 1."
            ),
            truth=(
                "The draw multiplies a record's δ by r/n at the same ε, and no smaller ε is valid. With n "
                "= 50, r = 1 and ε₀ = 0.3 in a round, the claimed ε = 0.012 needs δ ≥ 2.6e-3. A client is "
                "amplified if its whole message is within ε₀ and the draw is secret. Its ε in a round is "
                "then log(1 + (r/n)(e^ε₀ − 1))."
            ),
            charitable=(
                "Neighbours differ in one record and the server is not trusted; under these definitions "
                "no reading that we know makes the factor hold. For neighbours that differ in one client "
                "and a secret draw, it would hold."
            ),
            test=f"{_TESTS}::test_drawing_clients_does_not_shrink_a_records_epsilon",
        ),
        Erratum(
            "D-9",
            grade=Grade.REFINEMENT,
            place="Theorem 2 (privacy), and Appendix C, (20)",
            printed=(
                "The paper states 2^−d K + δ as the δ of all K rounds. It is the sum of 2^−d for each "
                "round and the slack δ of the composition."
            ),
            truth=(
                "With a true δ₀ of each round, all rounds have the smaller δ of 1 − (1 − δ₀)^K (1 − δ). "
                "Over clients δ is the largest of theirs, not the sum."
            ),
            charitable="If every round had the δ of 2^−d, the printed sum would be a valid upper bound.",
            test=f"{_TESTS}::test_rounds_compose_to_the_published_figures",
        ),
        Erratum(
            "D-10",
            grade=Grade.REFINEMENT,
            place="Theorem 2, and Appendix C after (22) and (23)",
            printed=(
                "Theorem 2 asks for ε < 6 and δ < e^(−9/4). Its proof derives ε̂ < 1, for the ε of all "
                "rounds ε̂, from ε < 6 and δ < e^(−9/16)."
            ),
            truth=(
                "The conditions give ε̂ < 1 with room to spare: ε̂ = 1 at ε = 6 and δ = e^(−9/16). The "
                "composition of the rounds needs neither condition."
            ),
            charitable=(
                "The conditions suffice as they stand. The proof uses the stricter bound on δ for Theorem "
                "1's condition on the ε₀ of a round, (23)."
            ),
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
    """Compute the parameter ε of Theorem 2 for a run with ε̂ in total: the solution of ε/8 + ε²/(256 log 1/δ) = ε̂.

    Args:
        inputs: the requested ε̂ of all rounds, and the slack δ of their composition.

    Returns:
        `epsilon`, the positive solution.
    """
    log_inverse = -math.log(inputs.delta)
    target = inputs.composed_epsilon
    # The positive root of aε² + ε/8 − ε̂ with a = 1/(256 log 1/δ), in a form without cancellation.
    epsilon = 2.0 * target / (0.125 + math.sqrt(1.0 / 64.0 + 4.0 * target / (256.0 * log_inverse)))
    return {"epsilon": epsilon}


EQUATION_22 = Theorem(
    id="das.equation-22",
    title="The ε of Theorem 2 for a run of given ε̂",
    statement=(
        "The ε of Theorem 2 for a run solves ε/8 + ε²/(256 log 1/δ) = ε̂. Here ε̂ is the requested ε of all "
        "rounds, and δ the slack of their composition."
    ),
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
    """Compute ε and δ of one round, and of K composed rounds, if a secret draw of clients amplifies privacy.

    With the sampling rate q, an amplified round has ε = ln(1 + q(e^ε₀ − 1)) and δ = qδ₀. The composition adds a slack
    δ', and the δ of K rounds is 1 − (1 − δ)^K (1 − δ').

    Args:
        round_epsilon: ε₀ of a client's message.
        round_delta: δ₀ of a client's message.
        rounds: number K of rounds.
        slack_delta: slack δ' of the composition.
        amplified: unit that the secret draw amplifies: `none`, a `record` (δ only), or a `client` (ε and δ).
        rate: share q of the clients that is drawn in a round.

    Returns:
        `round_epsilon` and `round_delta`: ε and δ of one round.
        `epsilon` and `delta`: those of all rounds. ε is the smallest of three bounds of Kairouz, Oh and Viswanath.
        `printed_form_epsilon`: the one of these bounds that Das et al. use.
    """
    epsilon, delta = round_epsilon, round_delta
    if amplified == "client":
        epsilon = subsampled_epsilon(epsilon=round_epsilon, rate=rate)
    if amplified != "none":
        delta = round_delta * rate
    log_delta = -math.inf
    if delta > 0.0:
        log_delta = math.log(delta)
    # All rounds together have 1 − δ_K = (1 − δ)^K (1 − δ').
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
        "K rounds of ε and δ₁ each, composed with the slack δ, have as ε_K the least of three bounds. They "
        "are Kε, ε√(2K log 1/δ) + Kε tanh(ε/2) and Kε tanh(ε/2) + ε√(2K log(e + √K ε/δ)). Their δ is δ_K = 1 "
        "− (1 − δ₁)^K (1 − δ). A client's message is within (ε₀, δ₀), and a round draws the share q of the "
        "clients. Against the server ε = ε₀ and δ₁ = δ₀. For a record, if the draw is secret, ε = ε₀ and δ₁ = "
        "qδ₀. For a client whose whole message is within (ε₀, δ₀), ε = log(1 + q(e^ε₀ − 1)) and δ₁ = qδ₀."
    ),
    source=Source("kairouz2015composition", "Theorems 3.3 and 3.4, with docs/shifted-noise.md, Two levels"),
    status=Status.PROVED,
    conditions=(Condition("clients-are-disjoint", "no person has data at two clients"),),
    formula=rounds,
    examples=({"round_epsilon": 0.01, "round_delta": 1e-12, "rounds": 400, "slack_delta": 1e-9},),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2, EQUATION_22, ROUNDS_OF_CLIENTS)
