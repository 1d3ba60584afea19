from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Stage")


@_attrs_define
class Stage:
    """One stage of Algorithm 2: in its round t, α = 2/(t + 1) and η = 4 · prox_weight/(t(t + 1)).

    Attributes:
        rounds (int): Depends on the object:

            - rounds of the stage
            - communication rounds
        prox_weight (float): Depends on the object:

            - v; the larger, the shorter the steps
            - prox weight; the larger, the shorter the steps
    """

    rounds: int
    prox_weight: float

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

        stage = cls(
            rounds=rounds,
            prox_weight=prox_weight,
        )

        return stage
