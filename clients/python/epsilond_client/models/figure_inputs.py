from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="FigureInputs")


@_attrs_define
class FigureInputs:
    """A federation, in units where L = D = φ = 1, and L²/μ = 1 for the strongly convex rates."""

    samples_per_client: int
    """ records of one client """
    clients: int
    """ clients in the federation """
    dimension: int
    """ coordinates of the model """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    condition_number: float
    """ smoothness over strong convexity, β/μ """

    def to_dict(self) -> dict[str, Any]:
        samples_per_client = self.samples_per_client

        clients = self.clients

        dimension = self.dimension

        epsilon = self.epsilon

        condition_number = self.condition_number

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "samples_per_client": samples_per_client,
                "clients": clients,
                "dimension": dimension,
                "epsilon": epsilon,
                "condition_number": condition_number,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        samples_per_client = d.pop("samples_per_client")

        clients = d.pop("clients")

        dimension = d.pop("dimension")

        epsilon = d.pop("epsilon")

        condition_number = d.pop("condition_number")

        figure_inputs = cls(
            samples_per_client=samples_per_client,
            clients=clients,
            dimension=dimension,
            epsilon=epsilon,
            condition_number=condition_number,
        )

        return figure_inputs
