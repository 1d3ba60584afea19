"""Das et al., (85) and Remark 3: FedAvg at any step size, and its bound compared with that of DP-NormFedAvg."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import (
    ANY_SCALE,
    InitialDistance,
    ParticipantFields,
    Rounds,
    Smoothness,
    StepSize,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIENT_OPTIMUM_DISTANCE,
    COMPRESSION,
    QuasarConvexity,
)
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Sides, Source, Status, Theorem
from epsilond.accountants.theorems.risk.das.client_selection import selection_constant
from epsilond.accountants.theorems.risk.das.convergence import (
    FULL_GRADIENTS,
    FULL_STEPS,
    QUASAR_CONVEX,
    UNIFORM_CLIENTS,
    error_factor,
)
from epsilond.accountants.theorems.risk.das.fedavg import FedAvgInputs, variance_constant
from epsilond.accountants.verdict import Verdict

_TESTS = "tests/theorems/risk/das/test_rates.py"


# FedAvg at any step size, (85) --------------------------------------------------------------------------------------
@request
class FedAvgAtStep(FedAvgInputs):
    """A run of FedAvg with the step size η of the clients."""

    step_size: StepSize


def largest_step(inputs: FedAvgInputs) -> float:
    """Return the largest step size for which equation (85) of Das et al. is proved, min{ζ/(2L), 1/(4LE), ζ/(cLE)}.

    The constant c (`selection_constant`) depends on the number of clients and of participants in a round.

    Args:
        inputs: the run, with smoothness L, quasar-convexity ζ and E local steps.

    Returns:
        The step size, in units of a model per unit of its gradient.
    """
    constant = selection_constant(clients=inputs.clients, participants=inputs.participants)  # c
    # The limits without their common factor 1/L. The second and the third one also have the factor 1/E.
    first_limit = 0.5 * inputs.quasar_convexity
    other_limits = min(0.25, inputs.quasar_convexity / constant) / inputs.local_steps
    return min(first_limit, other_limits) / inputs.smoothness


@in_doubles
def fedavg_at_step(inputs: FedAvgAtStep) -> Outputs:
    """Return the bound (85) of Das et al. on the mean over the rounds of the squared gradient norm of FedAvg.

    For K rounds of E local steps with step size η, smoothness L and quasar-convexity ζ, it is:

        32L/(ηζE) (a²/K + b²).

    Args:
        inputs: the run. a is `initial_distance`, the distance of the initial model from the minimiser. b is
            `client_optimum_distance`, the root mean square of the distances of the clients' minimisers from it.

    Returns:
        The bound, its two terms, and the largest step size for which it is proved.
    """
    scale = 32.0 * inputs.smoothness / (inputs.step_size * inputs.quasar_convexity * inputs.local_steps)
    start = scale * inputs.initial_distance**2 / inputs.rounds
    optima = scale * inputs.client_optimum_distance**2
    return {
        "squared_gradient_norm": start + optima,
        "start_term": start,
        "client_optima_term": optima,
        "largest_step_size": largest_step(inputs),
    }


EQUATION_85 = Theorem(
    id="das.equation-85",
    title="Convergence of FedAvg at any step size",
    statement=(
        "The mean of E‖∇f(w_k)‖² over K rounds of FedAvg is at most (32L/(ηζE)) (‖w₀ − w*‖²/K + (1/n) Σ ‖w*_i − w*‖²). "
        "The n losses are L-smooth and ζ-quasar-convex with minimisers w*_i, and clients take E steps of size η. "
        "With r clients in a round, η is at most ζ/(2L), 1/(4LE) and ζ/(cLE). Here c is the larger of "
        "2 + 23(n − r)/(r(n − 1)) and 64n(r − 1)/(r(n − 1))."
    ),
    source=Source("das2021", "Appendix D, Equation (85)"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "short-steps",
            "the step size η is at most ζ/(2L), 1/(4LE) and ζ/(cLE), with the constant c of the draw of clients",
            lambda inputs: Sides.at_most(inputs.step_size, largest_step(inputs)),
        ),
        QUASAR_CONVEX,
        FULL_STEPS,
        UNIFORM_CLIENTS,
    ),
    inputs=FedAvgAtStep,
    formula=fedavg_at_step,
    examples=(
        {
            "smoothness": 2.0,
            "quasar_convexity": 0.5,
            "initial_distance": 3.0,
            "client_optimum_distance": 0.25,
            "rounds": 400,
            "local_steps": 20,
            "participants": 25,
            "clients": 50,
            "step_size": 0.00015625,
        },
    ),
)


# Two rates compared, Remark 3 ---------------------------------------------------------------------------------------
@request
class TwoRates(ParticipantFields):
    """A federation on which DP-NormFedAvg and FedAvg run for K rounds, each with the step sizes of its theorem.

    `compression` is the mean squared error γ of a message of DP-NormFedAvg; 0 is NormFedAvg.
    """

    scale: ClassVar = ANY_SCALE

    smoothness: Smoothness
    quasar_convexity: QuasarConvexity
    initial_distance: InitialDistance
    client_optimum_distance: Annotated[float, CLIENT_OPTIMUM_DISTANCE] = 0.0
    rounds: Rounds
    compression: Annotated[float, COMPRESSION] = 0.0


@in_doubles
def compare_rates(inputs: TwoRates) -> Outputs:
    """Compare the bounds of Das et al. on the gradient norm of DP-NormFedAvg (Theorem 2) and FedAvg (Theorem 4).

    Let a = `initial_distance`/√K for K rounds, and b = `client_optimum_distance`. The bounds are:

        (6L/ζ)(ga + b) and (L/ζ)√(32c̄(a² + b²)),   g = √(1 + γ/r),

    with smoothness L, quasar-convexity ζ, the mean squared error γ of the messages of r participants, and the constant
    c̄ for the draw of participants (`variance_constant`). b is the distance of all clients' minimisers: the theorems
    have their mean in the first bound, and their root mean square in the second one.

    Args:
        inputs: the federation, with K rounds and the constants of the losses.

    Returns:
        `gradient_norm`: bound on the gradient norm for DP-NormFedAvg.
        `fedavg_gradient_norm`: root of the bound on the squared gradient norm for FedAvg.
        `ratio`: the first divided by the second.
        `least_ratio`, `largest_ratio`: bounds 6/√(32c̄) and 6√(2 + γ/r)/√(32c̄) on the ratio over all a and b.
    """
    message_factor = error_factor(inputs.compression, inputs.participants)  # g
    initial_part = inputs.initial_distance / math.sqrt(inputs.rounds)  # a
    optima_part = inputs.client_optimum_distance  # b
    curvature = inputs.smoothness / inputs.quasar_convexity  # L/ζ
    constant = variance_constant(clients=inputs.clients, participants=inputs.participants)  # c̄
    root = math.sqrt(32.0 * constant)  # √(32c̄)

    sum_of_parts = message_factor * initial_part + optima_part
    joint_distance = math.hypot(initial_part, optima_part)
    return {
        "gradient_norm": 6.0 * curvature * sum_of_parts,
        "fedavg_gradient_norm": curvature * root * joint_distance,
        "ratio": 6.0 * sum_of_parts / (root * joint_distance),
        "least_ratio": 6.0 / root,
        "largest_ratio": 6.0 * math.hypot(message_factor, 1.0) / root,
    }


def _square_rounds(inputs: TwoRates) -> Sides:
    """Check that the number K of rounds is a square, so that E = √K local steps are possible.

    Returns:
        Whether K is a square, with the two sides √K and its integer part.
    """
    root = math.isqrt(inputs.rounds)
    return Sides(Verdict.of(root * root == inputs.rounds), math.sqrt(inputs.rounds), float(root))


REMARK_3 = Theorem(
    id="das.remark-3",
    title="The rates of DP-NormFedAvg and FedAvg compared",
    statement=(
        "Remark 3 states the rates O(√d/√K) + O(B) of ‖∇f‖ for DP-NormFedAvg and O(1/K) + O(B²) of ‖∇f‖² for FedAvg. "
        "Here K is the number of rounds, d the dimension, and B the distance of the clients' minimisers. At a fixed "
        "mean squared error γ of a message, the bound of Theorem 2 is between 6/√(32c̄) and 6√(2 + γ/r)/√(32c̄) times "
        "the root of that of Theorem 4. This holds for every K and B, with r clients in a round and the constant c̄ "
        "of Theorem 4."
    ),
    source=Source("das2021", "Remark 3"),
    status=Status.PROVED,
    conditions=(
        Condition(
            "root-steps",
            "the clients of DP-NormFedAvg take E = √K local steps, so that the number K of rounds is a square",
            _square_rounds,
        ),
        Condition("one-distance", "the minimisers of all clients are at the same distance B from the common one"),
        QUASAR_CONVEX,
        FULL_GRADIENTS,
        UNIFORM_CLIENTS,
    ),
    errata=(
        Erratum(
            "D-16",
            grade=Grade.UNCLEAR,
            place="Section 5, Remark 3",
            printed=(
                "The remark states that both algorithms have the same order in the number K of rounds. It holds the "
                "penalty of privacy to be the factor √d, for d dimensions."
            ),
            truth=(
                "Both orders agree if the mean squared error γ of a message does not depend on K. For certified noise "
                "and a fixed ε of all rounds it does. The ε₀ of a round falls as 1/√K, so that γ grows as K and γ/K "
                "does not fall."
            ),
            charitable=(
                "Without noise (NormFedAvg), or at a fixed ε₀ of a round, the orders agree. With the levels of Theorem "
                "1 they do as well, but that noise is not private as stated (das.1, D-1)."
            ),
            test=f"{_TESTS}::test_certified_noise_grows_with_the_rounds",
        ),
    ),
    inputs=TwoRates,
    formula=compare_rates,
    examples=(
        {
            "smoothness": 2.0,
            "quasar_convexity": 0.5,
            "initial_distance": 3.0,
            "client_optimum_distance": 0.25,
            "rounds": 400,
            "clients": 50,
            "participants": 25,
            "compression": 100.0,
        },
    ),
)

THEOREMS: tuple[Theorem, ...] = (EQUATION_85, REMARK_3)
