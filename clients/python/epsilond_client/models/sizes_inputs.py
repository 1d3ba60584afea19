from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SizesInputs")


@_attrs_define
class SizesInputs:
    """How many clients the insurance records are split among."""

    clients: int
    """ clients in the federation """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        sizes_inputs = cls(
            clients=clients,
        )

        return sizes_inputs
