from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SumInputs")


@_attrs_define
class SumInputs:
    """The same over t rounds: σ and ξ are then σ̃ and ξ̃ of s_t."""

    clients: int
    """ clients in the federation """
    participants: int
    """ clients that report in one round """
    gradient_std: float
    """ spread of records about their client's mean """
    heterogeneity: float
    """ spread of clients about their mean """
    round_: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participants = self.participants

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        round_ = self.round_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "participants": participants,
                "gradient_std": gradient_std,
                "heterogeneity": heterogeneity,
                "round": round_,
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

        round_ = d.pop("round")

        sum_inputs = cls(
            clients=clients,
            participants=participants,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            round_=round_,
        )

        return sum_inputs
