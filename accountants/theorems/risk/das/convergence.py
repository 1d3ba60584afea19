"""Convergence to a stationary point of NormFedAvg with noisy messages, and of FedAvg (Das et al.).

Losses are L-smooth and ζ-quasar-convex. Clients take E full gradient steps, and r of n clients are drawn uniformly in
each round. Lemma 3 is a lower bound on the norm of the sum of a client's gradients, by which the client normalises its
update.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from epsilond.accountants.formula import formula
from epsilond.accountants.json_types import Fields
from epsilond.accountants.quantities import (
    ANY_SCALE,
    InitialDistance,
    Participants,
    Rounds,
    Smoothness,
    StepSize,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIENT_OPTIMUM_DISTANCE,
    COMPRESSION,
    DISTANCE,
    STEP_RATIO,
    LocalSteps,
    QuasarConvexity,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.das.fedavg import FedAvgInputs, theorem_4
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/das/test_convergence.py"


@dataclass(frozen=True, kw_only=True)
class RoundSteps:
    """The step sizes of a round of federated averaging.

    Attributes:
        local: step size η of the clients.
        server: step size β of the server.
    """

    local: float
    server: float


def error_factor(compression: float, participants: int) -> float:
    """Return √(1 + γ/r), the factor by which rounding and noise of messages raise the bound on the gradient norm.

    Args:
        compression: mean squared error γ of a message, relative to its squared norm of 1; 0 without rounding and noise.
        participants: number r of clients in a round, over which the error is averaged.
    """
    return math.sqrt(1.0 + compression / participants)


def local_step(
    *, smoothness: float, quasar_convexity: float, local_steps: int, compression: float, participants: int
) -> float:
    """Return the step size η = ζ/(4LE √(1 + γ/r)) of the clients in Theorem 2 of Das et al.

    Args:
        smoothness: smoothness L of the losses.
        quasar_convexity: quasar-convexity ζ of the losses, in (0, 1]; it is 1 for convex losses.
        local_steps: steps E of a client in a round.
        compression: mean squared error γ of a message, relative to its squared norm of 1.
        participants: number r of clients in a round.
    """
    message_factor = error_factor(compression, participants)
    return quasar_convexity / (4.0 * smoothness * local_steps * message_factor)


def printed_ratio(*, smoothness: float, quasar_convexity: float, initial_distance: float) -> float:
    """Return the ratio of the server's to the clients' step size in Theorem 2 of Das et al., β/η = 4L ‖w₀ − w*‖/ζ.

    Args:
        smoothness: smoothness L of the losses.
        quasar_convexity: quasar-convexity ζ of the losses, in (0, 1]; it is 1 for convex losses.
        initial_distance: distance ‖w₀ − w*‖ of the initial model from the minimiser.
    """
    return 4.0 * smoothness * initial_distance / quasar_convexity


def best_ratio(
    *, smoothness: float, quasar_convexity: float, initial_distance: float, rounds: int, local_steps: int
) -> float:
    """Return the ratio of the server's to the clients' step size that minimises the bound (39) of Das et al.

    It is 4L‖w₀ − w*‖E/(ζ√K). There the two terms of the bound that depend on the ratio are equal: one is proportional
    to it, and the other to its inverse.

    Args:
        smoothness: smoothness L of the losses.
        quasar_convexity: quasar-convexity ζ of the losses, in (0, 1]; it is 1 for convex losses.
        initial_distance: distance ‖w₀ − w*‖ of the initial model from the minimiser.
        rounds: number K of rounds.
        local_steps: steps E of a client in a round.

    Returns:
        The ratio, a length divided by a step size.
    """
    return 4.0 * smoothness * initial_distance * local_steps / (quasar_convexity * math.sqrt(rounds))


@request
class ConvergenceInputs:
    """A run of DP-NormFedAvg: the server averages the clients' normalised, rounded and noisy updates.

    `step_ratio` is the ratio of the server's to the clients' step size; if absent, the printed one. `compression` is
    the mean squared error of a message; 0 is NormFedAvg, without rounding and noise.
    """

    scale: ClassVar = ANY_SCALE

    smoothness: Smoothness
    quasar_convexity: QuasarConvexity
    initial_distance: InitialDistance
    client_optimum_distance: Annotated[float, CLIENT_OPTIMUM_DISTANCE] = 0.0
    rounds: Rounds
    local_steps: LocalSteps
    step_ratio: Annotated[float | None, STEP_RATIO] = None
    compression: Annotated[float, COMPRESSION] = 0.0
    participants: Participants

    @property
    def ratio(self) -> float:
        """The ratio β/η of the server's step size β to the clients' η; if absent, the one that Das et al. prescribe."""
        if self.step_ratio is not None:
            return self.step_ratio
        return printed_ratio(
            smoothness=self.smoothness,
            quasar_convexity=self.quasar_convexity,
            initial_distance=self.initial_distance,
        )

    @property
    def steps(self) -> RoundSteps:
        """The step sizes in Theorem 2 of Das et al.: η of the clients, and β of the server."""
        local = local_step(
            smoothness=self.smoothness,
            quasar_convexity=self.quasar_convexity,
            local_steps=self.local_steps,
            compression=self.compression,
            participants=self.participants,
        )
        return RoundSteps(local=local, server=self.ratio * local)


def bound_39(inputs: ConvergenceInputs) -> Outputs:
    """Return the bound of equation (39) of Das et al. on the mean over the rounds of the gradient norm.

    With smoothness L, quasar-convexity ζ, E local steps and K rounds, it is:

        12(La/ζ)² Eg/(xK) + 3xg/(4E) + 6Lb/ζ,   g = √(1 + γ/r).

    Here x is the ratio of the server's to the clients' step size, and γ the mean squared error of the messages of r
    participants.

    Args:
        inputs: the run, with the distance a of the initial model from the minimiser (`initial_distance`), and the
            distance b of the clients' optima from it (`client_optimum_distance`).

    Returns:
        Both step sizes, the bound `gradient_norm`, and its terms by their causes: `start_term`, the distance of the
        initial model from the minimiser; `steps_term`, the step sizes; and `client_optima_term`, the distance of the
        clients' optima from the minimiser.
    """
    step_ratio = inputs.ratio  # x
    message_factor = error_factor(inputs.compression, inputs.participants)  # g
    scaled_distance = inputs.smoothness * inputs.initial_distance / inputs.quasar_convexity  # La/ζ

    start = 12.0 * scaled_distance**2 * inputs.local_steps / (step_ratio * inputs.rounds) * message_factor
    steps = 0.75 * step_ratio / inputs.local_steps * message_factor
    client_optima = 6.0 * inputs.smoothness / inputs.quasar_convexity * inputs.client_optimum_distance

    step_sizes = inputs.steps
    return {
        "local_step_size": step_sizes.local,
        "server_step_size": step_sizes.server,
        "gradient_norm": math.fsum((start, steps, client_optima)),
        "start_term": start,
        "steps_term": steps,
        "client_optima_term": client_optima,
    }


QUASAR_CONVEX = Condition("quasar-convex", "every client's loss is L-smooth and ζ-quasar-convex")
FULL_GRADIENTS = Condition("full-gradients", "clients take full gradient steps and normalise their updates exactly")
FULL_STEPS = Condition("full-gradients", "clients take full gradient steps, all of one size")
UNIFORM_CLIENTS = Condition("uniform-clients", "participants are drawn uniformly without replacement in each round")
ASSUMPTIONS = (QUASAR_CONVEX, FULL_GRADIENTS, UNIFORM_CLIENTS)
_LOSS_AND_RUN: Fields = {
    "smoothness": 2.0,
    "quasar_convexity": 0.5,
    "initial_distance": 3.0,
    "rounds": 400,
    "local_steps": 20,
    "participants": 25,
}
_EXAMPLE: Fields = {**_LOSS_AND_RUN, "compression": 100.0}
EQUATION_39 = Theorem(
    id="das.equation-39",
    title="Convergence of DP-NormFedAvg, for any number of local steps",
    statement=(
        "The mean of E‖∇f(w_k)‖ over K rounds is at most (12L²D₀²E/(cζ²K) + 3c/(4E)) √(1 + γ/r) + (6L/ζ) "
        "(1/n) Σ ‖w*_i − w*‖. The n losses are L-smooth and ζ-quasar-convex with minimisers w*_i, and D₀ = "
        "‖w₀ − w*‖. In a round r clients take E steps of size η = ζ/(4LE √(1 + γ/r)), and γ is the mean "
        "squared error of a message. The server's step size is cη."
    ),
    source=Source("das2021", "Equation (39)"),
    status=Status.PROVED,
    conditions=ASSUMPTIONS,
    inputs=ConvergenceInputs,
    formula=bound_39,
    examples=(_EXAMPLE,),
)


def _whole_root(inputs: ConvergenceInputs) -> Sides:
    """Check that E² = K for E local steps and K rounds, exactly, as Theorem 2 of Das et al. assumes.

    Returns:
        Whether the condition holds, with its two sides E and √K.
    """
    root = math.sqrt(inputs.rounds)
    is_square = inputs.local_steps**2 == inputs.rounds
    return Sides(Verdict.of(is_square), float(inputs.local_steps), root)


def utility(inputs: ConvergenceInputs) -> Outputs:
    """Return the bound of Theorem 2 of Das et al. on the least gradient norm of a round, with its two terms.

    For E = √K local steps in each of K rounds, and the step sizes of the theorem, it is:

        (6L/ζ)(ga/√K + b),   g = √(1 + γ/r),

    with smoothness L, quasar-convexity ζ, and the mean squared error γ of the messages of r participants.

    Args:
        inputs: the run, with the distance a of the initial model from the minimiser (`initial_distance`), and the
            distance b of the clients' optima from it (`client_optimum_distance`).

    Returns:
        The bound `gradient_norm`, and its terms `start_term` and `client_optima_term`.
    """
    optima_factor = 6.0 * inputs.smoothness / inputs.quasar_convexity
    message_factor = error_factor(inputs.compression, inputs.participants)
    start = optima_factor * inputs.initial_distance / math.sqrt(inputs.rounds) * message_factor
    optima = optima_factor * inputs.client_optimum_distance
    return {"gradient_norm": start + optima, "start_term": start, "client_optima_term": optima}


THEOREM_2_UTILITY = Theorem(
    id="das.2-utility",
    title="Convergence of DP-NormFedAvg at E = √K",
    statement=(
        "For E = √K local steps and the step sizes of Theorem 2, min_k E‖∇f(w_k)‖ ≤ (6LD₀/(ζ√K)) √(1 + γ/r) + "
        "(6L/ζ) (1/n) Σ ‖w*_i − w*‖. The n losses are L-smooth and ζ-quasar-convex with minimisers w*_i, and "
        "D₀ = ‖w₀ − w*‖. Here r clients take part in each of K rounds, and γ is the mean squared error of a "
        "message. For other E, use das.equation-39."
    ),
    source=Source("das2021", "Theorem 2, convergence"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "root-steps",
            "the number E of local steps is the square root of the number K of rounds",
            _whole_root,
        ),
        *ASSUMPTIONS,
    ),
    errata=(
        Erratum(
            "D-14",
            grade=Grade.UNCLEAR,
            place="Section 5, the paragraph after Theorem 2",
            printed=(
                "The paper states γ = O(d) for the mean squared error γ of a message in d dimensions. It "
                "uses Theorem 1's bound on the noise levels. It concludes that the convergence is "
                "independent of ε and δ."
            ),
            truth=(
                "Certified noise has γ = d/(4s²) + dV on a grid of step 1/s. The variance V of this noise "
                "is near 2/(αs)², with its decay rate α. Hence γ grows as ε falls."
            ),
            charitable=(
                "For the printed noise levels of Theorem 1, γ = O(d) holds. That noise is not private as "
                "stated (das.1, D-1)."
            ),
            test=f"{_TESTS}::test_the_compression_depends_on_epsilon",
        ),
    ),
    inputs=ConvergenceInputs,
    formula=utility,
    examples=(_EXAMPLE,),
)


THEOREM_4 = Theorem(
    id="das.4",
    title="Convergence of FedAvg",
    statement=(
        "FedAvg with the step size η = ζ/(c̄LE) has min_k E‖∇f(w_k)‖² ≤ (32 c̄ L²/ζ²) (‖w₀ − w*‖²/K + (1/n) Σ "
        "‖w*_i − w*‖²). The n losses are L-smooth and ζ-quasar-convex with minimisers w*_i. There are K "
        "rounds of E local steps. The constant c̄ depends on the numbers of clients and of participants."
    ),
    source=Source("das2021", "Theorem 4, (53)"),
    status=Status.PROVED,
    conditions=(QUASAR_CONVEX, UNIFORM_CLIENTS, FULL_STEPS),
    inputs=FedAvgInputs,
    formula=theorem_4,
    examples=({**_LOSS_AND_RUN, "clients": 50},),
)


@formula(given="E gradient steps of size η from a model where the gradient has this norm.", bounded=False)
def update_norm(
    *,
    gradient_norm: Annotated[float, DISTANCE],
    local_steps: LocalSteps,
    step_size: Annotated[StepSize, ANY_SCALE],
    smoothness: Annotated[Smoothness, ANY_SCALE],
    reading: Reading = "printed",
) -> Outputs:
    """Return a lower bound on the norm of the sum of a client's gradients in one round (Lemma 3 of Das et al.).

    If the step size is small, the gradients of the E steps differ little from the first one. Their sum is then not much
    shorter than E times the first gradient.

    Args:
        gradient_norm: norm ‖∇f‖ of the client's gradient at the model of the round.
        local_steps: steps E of a client in a round.
        step_size: step size η.
        smoothness: smoothness L of the client's loss.
        reading: "printed" for the bound (2/3) E ‖∇f‖. "corrected" for E (1 − ηL(E − 1)) ‖∇f‖, which is at least
            (3/4) E ‖∇f‖ if ηLE ≤ 1/4.

    Returns:
        `update_norm`, the bound. For "corrected" also `constant_of_the_printed_proof`: √(31/128), the constant that the
        printed proof gives in place of the stated 2/3.
    """
    if reading == "printed":
        printed_constant = 2.0 / 3.0
        return {"update_norm": printed_constant * local_steps * gradient_norm}
    proved_constant = 1.0 - step_size * smoothness * (local_steps - 1)
    return {
        "update_norm": local_steps * proved_constant * gradient_norm,
        "constant_of_the_printed_proof": math.sqrt(31.0 / 128.0),
    }


LEMMA_3 = Theorem(
    id="das.lemma-3",
    title="A client's update is not short",
    statement=(
        "The sum of a client's E gradients in a round has norm at least (2/3) E ‖∇f_i(w)‖ where ηLE ≤ 1/4. "
        "Here η is the step size, L the smoothness and w the model of the round."
    ),
    source=Source("das2021", "Lemma 3, (49)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η, the smoothness L and the number E of local steps have ηLE ≤ 1/4",
            lambda inputs: Sides.at_most(inputs.step_size * inputs.smoothness * inputs.local_steps, 0.25),
        ),
    ),
    errata=(
        Erratum(
            "D-13",
            grade=Grade.PROVED_WRONG,
            place="Appendix C, proof of Lemma 3, (49)",
            printed=(
                "The proof states that (47) and (48) give ‖u‖² ≥ (31/64) E² ‖∇f‖², and hence (4/9) E² "
                "‖∇f‖². Here u is the sum of a client's E gradients in a round, and ∇f the first of them."
            ),
            truth=(
                "(47) and (48) give the factor 31/128, which is 0.492² and not (2/3)². Lemma 3 holds by "
                "(73): ‖u‖/‖∇f‖ is at least E (1 − ηL(E − 1)) ≥ 3E/4. Here η is the step size and L the "
                "smoothness."
            ),
            charitable=(
                "The statement of Lemma 3 holds as it stands. No reading that we know makes the step (49) "
                "of its proof hold."
            ),
            test=f"{_TESTS}::test_the_steps_of_the_proof_give_half_the_factor",
        ),
    ),
    formula=update_norm,
    examples=({"gradient_norm": 1.0, "local_steps": 10, "step_size": 0.015625, "smoothness": 1.0},),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_39, THEOREM_2_UTILITY, THEOREM_4, LEMMA_3)
