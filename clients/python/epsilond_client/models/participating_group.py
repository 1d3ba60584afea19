from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ParticipatingGroup")


@_attrs_define
class ParticipatingGroup:
    """Clients with equal participation: their number, and how often (`counts`) or when (`pattern`) each reports.

    Attributes:
        clients (int): number of clients in the federation
        participations (int | Unset): number of rounds in which each client of this group takes part
        rounds (list[int] | Unset): the rounds, counted from 1 and in ascending order, in which each client of this
            group takes part
    """

    clients: int
    participations: int | Unset = UNSET
    rounds: list[int] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        participations = self.participations

        rounds: list[int] | Unset = UNSET
        if not isinstance(self.rounds, Unset):
            rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
            }
        )
        if participations is not UNSET:
            field_dict["participations"] = participations
        if rounds is not UNSET:
            field_dict["rounds"] = rounds

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        participations = d.pop("participations", UNSET)

        rounds = cast(list[int], d.pop("rounds", UNSET))

        participating_group = cls(
            clients=clients,
            participations=participations,
            rounds=rounds,
        )

        return participating_group
