from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupRun")


@_attrs_define
class GroupRun:
    """Clients that are alike, and their noise per coordinate of the mean of their (weighted) gradients."""

    clients: int
    """ clients in the federation """
    samples_per_client: int
    """ records of one client """
    batch_size: int
    """ records of one client per round """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """
    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    weight: float | Unset = 1.0
    """ weight of one client's loss in the mean, relative to that of the others """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        noise_std = self.noise_std

        lipschitz = self.lipschitz

        weight = self.weight

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "samples_per_client": samples_per_client,
                "batch_size": batch_size,
                "noise_std": noise_std,
                "lipschitz": lipschitz,
            }
        )
        if weight is not UNSET:
            field_dict["weight"] = weight

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client")

        batch_size = d.pop("batch_size")

        noise_std = d.pop("noise_std")

        lipschitz = d.pop("lipschitz")

        weight = d.pop("weight", UNSET)

        group_run = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            noise_std=noise_std,
            lipschitz=lipschitz,
            weight=weight,
        )

        return group_run
