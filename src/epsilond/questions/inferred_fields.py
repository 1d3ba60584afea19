"""Fields of a calibration that are computed from the clients' data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import JsonRecord
from epsilond.questions.calibrate import calibrator
from epsilond.training.clients.tabular import TabularClients

if TYPE_CHECKING:
    from epsilond.training.arrays import Floats, Indices
    from epsilond.training.clients.batches import Gradients


def field_names(algorithm: str) -> set[str]:
    """Return the names of the fields of an algorithm's calibration request.

    Args:
        algorithm: name of the algorithm.

    Returns:
        The names, as in the HTTP body.

    Raises:
        InvalidInput: there is no such algorithm.
    """
    return {field.name for field in fields_of(calibrator(algorithm).problem)}


def complete_fields(
    algorithm: str, sources: Gradients, fields: Mapping[str, object], first_model: Floats
) -> JsonRecord:
    """Return the fields of a calibration request, with absent ones computed from the clients' data.

    Args:
        algorithm: name of the algorithm.
        sources: the clients.
        fields: fields that the caller gave, which are never replaced.
        first_model: the first model, shape (d,), for d coordinates.

    Returns:
        The fields of the request by name, given and computed.

    Raises:
        InvalidInput: the clients have different numbers of records, and the algorithm needs equal ones.
    """
    names = field_names(algorithm)
    dimension = len(first_model)
    values: JsonRecord = {
        "clients": len(sources.sizes),
        "dimension": dimension,
        "shared_dimension": dimension,
    }
    if algorithm != "norm-fedavg":
        values |= _record_counts(algorithm, sources.sizes, names, fields)
    if isinstance(sources, TabularClients):
        values |= _loss_constants(algorithm, sources, _lipschitz_radius(algorithm, fields, first_model))
    # Each algorithm has only some of these fields.
    inferred = {name: value for name, value in values.items() if name in names}
    return {**inferred, **fields}


def _record_counts(algorithm: str, sizes: Indices, names: set[str], fields: Mapping[str, object]) -> JsonRecord:
    """Compute the fields of a calibration that state how many records each client has.

    Args:
        algorithm: name of the algorithm, for the error.
        sizes: number of records of each client, shape (N,), for N clients.
        names: fields that the algorithm has.
        fields: fields that the caller gave.

    Returns:
        The fields by name. Empty if clients differ, and the caller gave the numbers or the algorithm has no such field.

    Raises:
        InvalidInput: the numbers differ, and the algorithm needs equal ones.
    """
    if bool(np.all(sizes == sizes[0])):
        return {"samples_per_client": int(sizes[0])}
    # Numbers that the caller gave are checked elsewhere, and are not replaced.
    states_counts = "samples_per_client" in fields or "client_groups" in fields
    if states_counts or "samples_per_client" not in names:
        return {}
    if "client_groups" not in names:
        message = f"hold {sizes.min()} to {sizes.max()} records, and {algorithm} is for clients with as many each"
        raise InvalidInput.at("/clients", message, allowed="equal numbers of records")
    return {"samples_per_client": int(sizes.min()), "client_groups": _group_clients(sizes)}


def _group_clients(sizes: Indices) -> list[dict[str, int]]:
    """Group consecutive clients with equal numbers of records, in their order.

    A calibration describes clients with different numbers of records by such groups.

    Args:
        sizes: number of records of each client, shape (N,), for N clients.

    Returns:
        For each group, its number of clients and the number of records of each client in it.
    """
    groups: list[dict[str, int]] = []
    for size in sizes.tolist():
        if groups and groups[-1]["samples_per_client"] == size:
            groups[-1]["clients"] += 1
        else:
            groups.append({"clients": 1, "samples_per_client": size})
    return groups


def _loss_constants(algorithm: str, clients: TabularClients, radius: float) -> JsonRecord:
    """Compute smoothness, Lipschitz constant and strong convexity of the clients' losses, as fields of a calibration.

    Args:
        algorithm: name of the algorithm.
        clients: the clients, with the loss of their records.
        radius: largest norm of a model. The Lipschitz constant holds for these models; it is left out if infinite.

    Returns:
        The constants by the name of their field. A strong convexity of 0 is left out.
    """
    # In ppsgd the loss is a function of w + θ_i, so that its smoothness in (w, θ_i) is twice as large.
    factor = 2.0 if algorithm == "ppsgd" else 1.0
    constants: JsonRecord = {"smoothness": factor * clients.smoothness}
    lipschitz = clients.lipschitz(radius)
    if np.isfinite(lipschitz):
        constants["lipschitz"] = lipschitz
    if clients.strong_convexity:
        constants["strong_convexity"] = clients.strong_convexity
    return constants


def _lipschitz_radius(algorithm: str, fields: Mapping[str, object], first_model: Floats) -> float:
    """Return the largest norm of the models at which the losses must be Lipschitz continuous.

    Args:
        algorithm: name of the algorithm.
        fields: fields that the caller gave, perhaps with the diameter or the radius of the domain.
        first_model: the first model, shape (d,), for d coordinates.

    Returns:
        The norm; infinite if the losses must be Lipschitz continuous everywhere.
    """
    if algorithm in ("mu2-sgd", "ppsgd"):
        return np.inf
    return domain_radius(fields.get("diameter"), fields.get("radius"), first_model)


def domain_radius(diameter: object, radius: object, center: Floats) -> float:
    """Return the largest norm of a model in the domain, which is a ball around the first model.

    Args:
        diameter: diameter of the ball; it takes precedence over the radius. A value that is not a number is ignored.
        radius: radius of the ball, likewise.
        center: center of the ball, shape (d,), for d coordinates.

    Returns:
        The largest distance of a model in the ball from the origin; infinite if neither number is given.
    """
    center_norm = float(np.linalg.norm(center))
    # By the triangle inequality, the norm is at most the ball's radius plus the norm of its center.
    if isinstance(diameter, int | float):
        return 0.5 * diameter + center_norm
    if isinstance(radius, int | float):
        return radius + center_norm
    return np.inf
