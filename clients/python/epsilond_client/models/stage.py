from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Stage")


@_attrs_define
class Stage:
    """One stage of Algorithm 2 of Lowy and Razaviyayn. In round t of the stage, the algorithm's α is 2/(t + 1) and its η
    is 4 · prox_weight/(t(t + 1)).

        Attributes:
            rounds (int): Depends on the object:

                - number of rounds of the stage
                - number of rounds
            prox_weight (float): weight of the proximal term in the steps of this stage. A larger weight gives shorter steps
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
