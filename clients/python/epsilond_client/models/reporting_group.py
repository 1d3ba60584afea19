from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReportingGroup")


@_attrs_define
class ReportingGroup:
    """Clients that report in the same rounds."""

    clients: int
    """ clients in the federation """
    rounds: list[int]
    """ the rounds, from 1 on and ascending, in which each of them reports """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        clients = d.pop("clients")

        rounds = cast(list[int], d.pop("rounds"))

        reporting_group = cls(
            clients=clients,
            rounds=rounds,
        )

        return reporting_group
