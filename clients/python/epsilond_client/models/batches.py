from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Batches")


@_attrs_define
class Batches:
    """Clients that are alike: how many, and the records of a batch."""

    clients: int
    """ clients in the federation """
    batch_size: int | Unset = 1
    """ records of one client per round """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        batch_size = self.batch_size

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
            }
        )
        if batch_size is not UNSET:
            field_dict["batch_size"] = batch_size

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        batch_size = d.pop("batch_size", UNSET)

        batches = cls(
            clients=clients,
            batch_size=batch_size,
        )

        return batches
