from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClientGroup")


@_attrs_define
class ClientGroup:
    """A group of equal clients: their number, and the values in which they differ from the rest of the request.

    If `batch_size` is absent, it is the same fraction of the group's records as in the rest of the request. It is
    rounded to the nearest whole record, at least one. The published theorems require equal fractions. `weight` is that
    of one client's loss, relative to those of other groups.

        Attributes:
            clients (int): clients in the federation
            samples_per_client (int | Unset): records of one client
            batch_size (int | Unset): records of one client per round
            epsilon (float | Unset): privacy loss bound ε of (ε, δ), natural logs
            delta (float | Unset): failure probability δ of (ε, δ)
            log10_delta (float | Unset): base-10 logarithm of δ, for a δ below any double
            lipschitz (float | Unset): bound on the ℓ2 norm of one record's gradient
            weight (float | Unset): weight of a client's loss in the mean, relative to the other clients
            noise_std (float | Unset): standard deviation per coordinate of the Gaussian noise added to a message
    """

    clients: int
    samples_per_client: int | Unset = UNSET
    batch_size: int | Unset = UNSET
    epsilon: float | Unset = UNSET
    delta: float | Unset = UNSET
    log10_delta: float | Unset = UNSET
    lipschitz: float | Unset = UNSET
    weight: float | Unset = UNSET
    noise_std: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        lipschitz = self.lipschitz

        weight = self.weight

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
            }
        )
        if samples_per_client is not UNSET:
            field_dict["samples_per_client"] = samples_per_client
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size
        if epsilon is not UNSET:
            field_dict["epsilon"] = epsilon
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if weight is not UNSET:
            field_dict["weight"] = weight
        if noise_std is not UNSET:
            field_dict["noise_std"] = noise_std

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client", UNSET)

        batch_size = d.pop("batch_size", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        weight = d.pop("weight", UNSET)

        noise_std = d.pop("noise_std", UNSET)

        client_group = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            lipschitz=lipschitz,
            weight=weight,
            noise_std=noise_std,
        )

        return client_group
