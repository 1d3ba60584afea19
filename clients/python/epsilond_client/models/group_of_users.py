from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupOfUsers")


@_attrs_define
class GroupOfUsers:
    """Clients that are alike: how many, the records of a batch, and what is known of their gradients at the optimum.

    The standard deviations are those of one record's gradient; a batch of m has them over √m.

    """

    clients: int
    """ clients in the federation """
    batch_size: int
    """ records of one client per round """
    shared_gradient_std: float
    """ root mean square distance, at the optimum, of a record's shared gradient from its expected one """
    local_gradient_std: float
    """ root mean square norm, at the optimum, of a record's gradient in its client's own part """
    shared_gradient_norm: float | Unset = 0.0
    """ bound on the norm, at the optimum, of a client's expected shared gradient; 0 for models w + θ_i """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        batch_size = self.batch_size

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "batch_size": batch_size,
                "shared_gradient_std": shared_gradient_std,
                "local_gradient_std": local_gradient_std,
            }
        )
        if shared_gradient_norm is not UNSET:
            field_dict["shared_gradient_norm"] = shared_gradient_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        batch_size = d.pop("batch_size")

        shared_gradient_std = d.pop("shared_gradient_std")

        local_gradient_std = d.pop("local_gradient_std")

        shared_gradient_norm = d.pop("shared_gradient_norm", UNSET)

        group_of_users = cls(
            clients=clients,
            batch_size=batch_size,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_gradient_norm=shared_gradient_norm,
        )

        return group_of_users
