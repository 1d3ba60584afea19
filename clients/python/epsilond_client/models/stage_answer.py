from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="StageAnswer")


@_attrs_define
class StageAnswer:
    """One stage of Algorithm 2: in its round t, α = 2/(t + 1) and η = 4 · prox_weight/(t(t + 1))."""

    rounds: int
    """ rounds of the stage """
    prox_weight: float
    """ v; the larger, the shorter the steps """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rounds = self.rounds

        prox_weight = self.prox_weight

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
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

        stage_answer = cls(
            rounds=rounds,
            prox_weight=prox_weight,
        )

        stage_answer.additional_properties = d
        return stage_answer

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
