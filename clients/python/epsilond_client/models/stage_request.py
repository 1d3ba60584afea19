from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="StageRequest")


@_attrs_define
class StageRequest:
    """One stage of Algorithm 2."""

    rounds: int
    """ communication rounds """
    prox_weight: float
    """ prox weight; the larger, the shorter the steps """

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        prox_weight = self.prox_weight

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rounds": rounds,
                "prox_weight": prox_weight,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rounds = d.pop("rounds")

        prox_weight = d.pop("prox_weight")

        stage_request = cls(
            rounds=rounds,
            prox_weight=prox_weight,
        )

        return stage_request
