from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ClientGroupRequest")


@_attrs_define
class ClientGroupRequest:
    """Clients that are alike: how many, and what differs from the rest of the request.

    An absent `batch_size` draws the same share of the records as a client with the request's `samples_per_client`
    does, to the nearest whole record: the printed theorems ask for equal shares. `weight` is relative to the others'.

    """

    clients: int
    """ clients in the federation """
    samples_per_client: int
    """ records of one client """
    batch_size: int | Unset = UNSET
    """ records of one client per round """
    epsilon: float | Unset = UNSET
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    weight: float | Unset = 1.0
    """ weight of one client's loss in the mean, relative to that of the others """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        samples_per_client = self.samples_per_client

        batch_size = self.batch_size

        epsilon = self.epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        lipschitz = self.lipschitz

        weight = self.weight

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "samples_per_client": samples_per_client,
            }
        )
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

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        samples_per_client = d.pop("samples_per_client")

        batch_size = d.pop("batch_size", UNSET)

        epsilon = d.pop("epsilon", UNSET)

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        lipschitz = d.pop("lipschitz", UNSET)

        weight = d.pop("weight", UNSET)

        client_group_request = cls(
            clients=clients,
            samples_per_client=samples_per_client,
            batch_size=batch_size,
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
            lipschitz=lipschitz,
            weight=weight,
        )

        return client_group_request
