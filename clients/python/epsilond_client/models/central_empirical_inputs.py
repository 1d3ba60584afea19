from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CentralEmpiricalInputs")


@_attrs_define
class CentralEmpiricalInputs:
    """Privacy against those who see what a trusted server puts out, the mean loss on the data at hand."""

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
    radius: float
    """ radius of the domain """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """

    def to_dict(self) -> dict[str, Any]:
        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        lipschitz = self.lipschitz

        epsilon = self.epsilon

        radius = self.radius

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "lipschitz": lipschitz,
                "epsilon": epsilon,
                "radius": radius,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        lipschitz = d.pop("lipschitz")

        epsilon = d.pop("epsilon")

        radius = d.pop("radius")

        strong_convexity = d.pop("strong_convexity", UNSET)

        central_empirical_inputs = cls(
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            lipschitz=lipschitz,
            epsilon=epsilon,
            radius=radius,
            strong_convexity=strong_convexity,
        )

        return central_empirical_inputs
