from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="FreshVarianceInputs")


@_attrs_define
class FreshVarianceInputs:
    """One round on records that were never used before, equal clients; statistics of the distributions."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    batch_size: int
    """ records of one client per round """
    dimension: int
    """ coordinates of the model """
    gradient_std: float
    """ root mean square distance of a record's gradient from its client's expected one, at its largest """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    heterogeneity: float | Unset = 0.0
    """ root mean square over clients of |∇F_i − ∇F|, at its largest """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        batch_size = self.batch_size

        dimension = self.dimension

        gradient_std = self.gradient_std

        noise_std = self.noise_std

        heterogeneity = self.heterogeneity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "batch_size": batch_size,
                "dimension": dimension,
                "gradient_std": gradient_std,
                "noise_std": noise_std,
            }
        )
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        batch_size = d.pop("batch_size")

        dimension = d.pop("dimension")

        gradient_std = d.pop("gradient_std")

        noise_std = d.pop("noise_std")

        heterogeneity = d.pop("heterogeneity", UNSET)

        fresh_variance_inputs = cls(
            clients=clients,
            participants=participants,
            batch_size=batch_size,
            dimension=dimension,
            gradient_std=gradient_std,
            noise_std=noise_std,
            heterogeneity=heterogeneity,
        )

        return fresh_variance_inputs
