from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SpreadInputs")


@_attrs_define
class SpreadInputs:
    """m of M clients, one record each."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    gradient_std: float
    """ spread of records about their client's mean """
    heterogeneity: float
    """ spread of clients about their mean """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "gradient_std": gradient_std,
                "heterogeneity": heterogeneity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participants = d.pop("participants")

        gradient_std = d.pop("gradient_std")

        heterogeneity = d.pop("heterogeneity")

        spread_inputs = cls(
            clients=clients,
            participants=participants,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
        )

        return spread_inputs
