from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LocalInputs")


@_attrs_define
class LocalInputs:
    """Privacy for every record against everyone but its client, the expected loss; φ is L where it is absent."""

    samples_per_client: int
    """ records of one client """
    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    round_delta: float
    """ least δ of one report of one client """
    diameter: float
    """ diameter of the domain """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    round_epsilon: float | Unset = UNSET
    """ largest ε of one report of one client; absent: ε₀ """
    compositionality: float | Unset = 1.0
    """ √(Σ(ε₀^r)²)/ε₀ of an algorithm, at least 1; 1 if it is sequential """
    gradient_std: float | Unset = UNSET
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """

    def to_dict(self) -> dict[str, Any]:
        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        epsilon = self.epsilon

        round_delta = self.round_delta

        diameter = self.diameter

        strong_convexity = self.strong_convexity

        round_epsilon = self.round_epsilon

        compositionality = self.compositionality

        gradient_std = self.gradient_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "epsilon": epsilon,
                "round_delta": round_delta,
                "diameter": diameter,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if round_epsilon is not UNSET:
            field_dict["round_epsilon"] = round_epsilon
        if compositionality is not UNSET:
            field_dict["compositionality"] = compositionality
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        epsilon = d.pop("epsilon")

        round_delta = d.pop("round_delta")

        diameter = d.pop("diameter")

        strong_convexity = d.pop("strong_convexity", UNSET)

        round_epsilon = d.pop("round_epsilon", UNSET)

        compositionality = d.pop("compositionality", UNSET)

        gradient_std = d.pop("gradient_std", UNSET)

        local_inputs = cls(
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            epsilon=epsilon,
            round_delta=round_delta,
            diameter=diameter,
            strong_convexity=strong_convexity,
            round_epsilon=round_epsilon,
            compositionality=compositionality,
            gradient_std=gradient_std,
        )

        return local_inputs
