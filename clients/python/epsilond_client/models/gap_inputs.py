from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GapInputs")


@_attrs_define
class GapInputs:
    """m of M clients report in a round."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        gap_inputs = cls(
            clients=clients,
            participants=participants,
        )

        return gap_inputs
