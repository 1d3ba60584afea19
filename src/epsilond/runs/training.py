"""The premises of `epsilond.train`: which of them its loop observes, and which rest on the caller."""

from __future__ import annotations

from epsilond.accountants.errors import Observation, RunDiffers
from epsilond.training.clients.tabular import TabularClients

OF_TABLES = frozenset(
    {
        "convex-losses",
        "full-gradients",
        "lipschitz-losses",
        "same-randomizer",
        "smooth-losses",
        "sum-of-contributions",
    }
)
"""Ids of conditions that hold for clients of features and targets, because the library computes their gradients."""
OF_DEPLOYMENT = frozenset(
    {"hidden-states", "own-parts-stay-home", "secret-draw", "secret-order", "single-release", "trusted-shuffler"}
)
"""Ids of conditions about knowledge outside of the process, which no observation of a run shows."""
USES_LOSS_CONSTANTS = frozenset({"norm-fedavg", "projected-sgd"})
"""Algorithms with a privacy guarantee that depends on constants of the losses."""
ROUNDING = 1e-12
"""Relative tolerance of constants of the losses, which are computed in double precision."""
ROWS_OF_FUNCTIONS = "Each row that a client's function returns was computed from its own record and the model only."
UNPROTECTED_LOG = "The unprotected part of the log, which no guarantee covers, is not released."
GIVEN_RANDOMNESS = "The random bits that were passed in are secret and are used for no other run."


def require_loss_constants(algorithm: str, problem: object, clients: object, *, radius: float) -> None:
    """Check that the Lipschitz and smoothness constants of a calibration hold for the losses of the clients.

    Only clients with features and targets are checked, and only algorithms with a guarantee that depends on these
    constants.

    Args:
        algorithm: name of the algorithm.
        problem: request of the calibration, with the assumed constants.
        clients: the clients of the run.
        radius: largest norm of a model [dimensionless].

    Raises:
        RunDiffers: a constant of these clients' losses exceeds the assumed one by more than rounding errors.
    """
    if algorithm not in USES_LOSS_CONSTANTS or not isinstance(clients, TabularClients):
        return
    constants = {"smoothness": clients.smoothness}
    if algorithm == "projected-sgd":
        constants["lipschitz"] = clients.lipschitz(radius)
    observations = []
    for name, value in constants.items():
        assumed = getattr(problem, name, None)
        if isinstance(assumed, float) and value > assumed * (1.0 + ROUNDING):
            message = f"the losses of these clients have {name} {value:.6g}, and the calibration assumes {assumed:.6g}"
            remedy = f"Leave {name} out of the question, or scale the features down."
            observations.append(Observation(f"{name}-of-losses", message, remedy=remedy))
    if observations:
        raise RunDiffers.of(tuple(observations))
