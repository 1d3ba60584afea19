"""The printed noise of Theorem 2.1 of Lowy and Razaviyayn for the clients of a test, and the risk that is proved at it."""

from collections.abc import Mapping
from typing import Any

from epsilond.accountants.federation import Federation
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import noise_std
from epsilond.accountants.theorems.risk.lowy_razaviyayn.descent_prescriptions import Prescription
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import ExcessRiskProblem, excess_risk


def noise_stds(federation: Federation, *, lipschitz: float, rounds: int) -> tuple[float, ...]:
    """Return σ of each group, for the same Lipschitz constant."""
    return tuple(
        noise_std(lipschitz=lipschitz, rounds=rounds, **group.records_and_target) for group in federation.groups
    )


def proved_risk(federation: Federation, loss: Mapping[str, Any], found: Prescription, **more: float) -> float:
    """Return the explicit bound on the risk of a prescribed run of equal clients, at the printed noise.

    Args:
        federation: clients, of one group.
        loss: dimension, Lipschitz constant, diameter and, unless it is in `more`, smoothness.
        found: prescribed rounds and step size.
        more: further fields of the problem.
    """
    (group,) = federation.groups
    (std,) = noise_stds(federation, lipschitz=loss["lipschitz"], rounds=found.rounds)
    assert found.step_size is not None
    problem = {
        "clients": federation.clients,
        "participants": federation.participation.mean,
        "samples_per_client": group.samples_per_client,
        "batch_size": group.batch_size,
        **{name: value for name, value in loss.items() if name != "diameter"},
        "initial_distance": loss["diameter"],
        **more,
    }
    return excess_risk(
        ExcessRiskProblem(**problem), noise_std=std, rounds=found.rounds, step_size=found.step_size
    ).total
