from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReusedVarianceInputs")


@_attrs_define
class ReusedVarianceInputs:
    """One round on records that are drawn anew from the same data in every round, equal clients."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    samples_per_client: int
    """ records of one client """
    batch_size: int
    """ records of one client per round """
    dimension: int
    """ coordinates of the model """
    empirical_gradient_std: float
    """ root mean square over all records of |∇f − ∇F̂| on the data at hand, at its largest over the domain """
    empirical_heterogeneity: float
    """ root mean square over clients of |∇F̂_i − ∇F̂| on the data at hand, at its largest over the domain """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        dimension = self.dimension

        empirical_gradient_std = self.empirical_gradient_std

        empirical_heterogeneity = self.empirical_heterogeneity

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "samples_per_client": samples_per_client,
                "batch_size": batch_size,
                "dimension": dimension,
                "empirical_gradient_std": empirical_gradient_std,
                "empirical_heterogeneity": empirical_heterogeneity,
                "noise_std": noise_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        samples_per_client = d.pop("samples_per_client")

        batch_size = d.pop("batch_size")

        dimension = d.pop("dimension")

        empirical_gradient_std = d.pop("empirical_gradient_std")

        empirical_heterogeneity = d.pop("empirical_heterogeneity")

        noise_std = d.pop("noise_std")

        reused_variance_inputs = cls(
            clients=clients,
            participants=participants,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            dimension=dimension,
            empirical_gradient_std=empirical_gradient_std,
            empirical_heterogeneity=empirical_heterogeneity,
            noise_std=noise_std,
        )

        return reused_variance_inputs
