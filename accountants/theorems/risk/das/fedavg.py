"""A bound on the gradient norm of FedAvg, which sends its updates without rounding or noise: Theorem 4 of Das et al."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from epsilond.accountants.quantities import (
    ANY_SCALE,
    InitialDistance,
    ParticipantFields,
    Rounds,
    Smoothness,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIENT_OPTIMUM_DISTANCE,
    LocalSteps,
    QuasarConvexity,
)
from epsilond.accountants.theorem import Outputs
from epsilond.accountants.theorems.risk.das.client_selection import selection_constant


@request
class FedAvgInputs(ParticipantFields):
    """A run of FedAvg, which sends its updates without rounding, noise or normalisation."""

    scale: ClassVar = ANY_SCALE

    smoothness: Smoothness
    quasar_convexity: QuasarConvexity
    initial_distance: InitialDistance
    client_optimum_distance: Annotated[float, CLIENT_OPTIMUM_DISTANCE] = 0.0
    rounds: Rounds
    local_steps: LocalSteps


def variance_constant(*, clients: int, participants: int) -> float:
    """Return the constant of Theorem 4 of Das et al., by which the random draw of clients raises the bound on FedAvg.

        c̄ = max(4, 2 + 23(n − r)/(r(n − 1)), 64n(r − 1)/(r(n − 1))) for r < n,  and 64 for r = n.

    Args:
        clients: number n of clients.
        participants: number r of clients in a round.

    Returns:
        The constant, at least 4 and without a unit.
    """
    return max(4.0, selection_constant(clients=clients, participants=participants))


def theorem_4(inputs: FedAvgInputs) -> Outputs:
    """Return the bound of Theorem 4 of Das et al. on the squared gradient norm of FedAvg, and its root.

    For K rounds, smoothness L and quasar-convexity ζ the bound is:

        32c̄ (L/ζ)² (a²/K + b²),

    where the constant c̄ (`variance_constant`) accounts for the draw of a round's participants.

    Args:
        inputs: the run, with the distance a of the initial model from the minimiser (`initial_distance`), and the
            distance b of the clients' optima from it (`client_optimum_distance`).

    Returns:
        The constant c̄, the step size ζ/(c̄LE) of the clients for E local steps, the bound, and its root.
    """
    constant = variance_constant(clients=inputs.clients, participants=inputs.participants)
    curvature = inputs.smoothness / inputs.quasar_convexity  # L/ζ
    squared_distances = inputs.initial_distance**2 / inputs.rounds + inputs.client_optimum_distance**2
    squared_norm = 32.0 * constant * curvature * curvature * squared_distances
    step_size = inputs.quasar_convexity / (constant * inputs.smoothness * inputs.local_steps)
    return {
        "variance_constant": constant,
        "local_step_size": step_size,
        "squared_gradient_norm": squared_norm,
        "gradient_norm": math.sqrt(squared_norm),
    }
