from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.accelerated_risk_inputs_objective import (
    AcceleratedRiskInputsObjective,
    check_accelerated_risk_inputs_objective,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="AcceleratedRiskInputs")


@_attrs_define
class AcceleratedRiskInputs:
    """A run of Algorithm 2, equal clients. Absent: φ (or Φ̂) and v (or v̂) are L; distance D; gap LD; b none."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    samples_per_client: int
    """ records of one client """
    batch_size: int
    """ records of one client per round """
    rounds: int
    """ communication rounds """
    dimension: int
    """ coordinates of the model """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    smoothness: float
    """ Lipschitz constant of the gradient """
    diameter: float
    """ diameter of the domain """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    initial_distance: float | Unset = UNSET
    """ bound on the distance from the start to a minimiser """
    initial_gap: float | Unset = UNSET
    """ bound on the excess risk of the start """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of |∇F_i − ∇F|, at its largest """
    envelope_smoothness: float | Unset = UNSET
    """ smoothness of the Moreau envelope that stands in for the loss """
    objective: AcceleratedRiskInputsObjective | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        rounds = self.rounds

        dimension = self.dimension

        noise_std = self.noise_std

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        diameter = self.diameter

        strong_convexity = self.strong_convexity

        initial_distance = self.initial_distance

        initial_gap = self.initial_gap

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        envelope_smoothness = self.envelope_smoothness

        objective: str | Unset = UNSET
        if not isinstance(self.objective, Unset):
            objective = self.objective

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "samples_per_client": samples_per_client,
                "batch_size": batch_size,
                "rounds": rounds,
                "dimension": dimension,
                "noise_std": noise_std,
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "diameter": diameter,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if initial_distance is not UNSET:
            field_dict["initial_distance"] = initial_distance
        if initial_gap is not UNSET:
            field_dict["initial_gap"] = initial_gap
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if envelope_smoothness is not UNSET:
            field_dict["envelope_smoothness"] = envelope_smoothness
        if objective is not UNSET:
            field_dict["objective"] = objective

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        samples_per_client = d.pop("samples_per_client")

        batch_size = d.pop("batch_size")

        rounds = d.pop("rounds")

        dimension = d.pop("dimension")

        noise_std = d.pop("noise_std")

        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        diameter = d.pop("diameter")

        strong_convexity = d.pop("strong_convexity", UNSET)

        initial_distance = d.pop("initial_distance", UNSET)

        initial_gap = d.pop("initial_gap", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        envelope_smoothness = d.pop("envelope_smoothness", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: AcceleratedRiskInputsObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_accelerated_risk_inputs_objective(_objective)

        accelerated_risk_inputs = cls(
            clients=clients,
            participants=participants,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            rounds=rounds,
            dimension=dimension,
            noise_std=noise_std,
            lipschitz=lipschitz,
            smoothness=smoothness,
            diameter=diameter,
            strong_convexity=strong_convexity,
            initial_distance=initial_distance,
            initial_gap=initial_gap,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            envelope_smoothness=envelope_smoothness,
            objective=objective,
        )

        return accelerated_risk_inputs
