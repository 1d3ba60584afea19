from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.excess_risk_inputs_objective import (
    ExcessRiskInputsObjective,
    check_excess_risk_inputs_objective,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ExcessRiskInputs")


@_attrs_define
class ExcessRiskInputs:
    """A run of Algorithm 1 with a constant step size, equal clients. Absent: step_size is the best one."""

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
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    step_size: float | Unset = UNSET
    """ step size """
    empirical_gradient_std: float | Unset = UNSET
    """ root mean square over all records of |∇f − ∇F̂| on the data at hand, at its largest over the domain """
    empirical_heterogeneity: float | Unset = UNSET
    """ root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain """
    objective: ExcessRiskInputsObjective | Unset = UNSET

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

        initial_distance = self.initial_distance

        strong_convexity = self.strong_convexity

        step_size = self.step_size

        empirical_gradient_std = self.empirical_gradient_std

        empirical_heterogeneity = self.empirical_heterogeneity

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
                "initial_distance": initial_distance,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if step_size is not UNSET:
            field_dict["step_size"] = step_size
        if empirical_gradient_std is not UNSET:
            field_dict["empirical_gradient_std"] = empirical_gradient_std
        if empirical_heterogeneity is not UNSET:
            field_dict["empirical_heterogeneity"] = empirical_heterogeneity
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

        initial_distance = d.pop("initial_distance")

        strong_convexity = d.pop("strong_convexity", UNSET)

        step_size = d.pop("step_size", UNSET)

        empirical_gradient_std = d.pop("empirical_gradient_std", UNSET)

        empirical_heterogeneity = d.pop("empirical_heterogeneity", UNSET)

        _objective = d.pop("objective", UNSET)
        objective: ExcessRiskInputsObjective | Unset
        if isinstance(_objective, Unset):
            objective = UNSET
        else:
            objective = check_excess_risk_inputs_objective(_objective)

        excess_risk_inputs = cls(
            clients=clients,
            participants=participants,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            rounds=rounds,
            dimension=dimension,
            noise_std=noise_std,
            lipschitz=lipschitz,
            smoothness=smoothness,
            initial_distance=initial_distance,
            strong_convexity=strong_convexity,
            step_size=step_size,
            empirical_gradient_std=empirical_gradient_std,
            empirical_heterogeneity=empirical_heterogeneity,
            objective=objective,
        )

        return excess_risk_inputs
