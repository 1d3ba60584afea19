from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="DerivationStep")


@_attrs_define
class DerivationStep:
    """A step of the proof: a theorem, its inputs, and the indices in this list of the steps that it uses.

    Attributes:
        theorem (str):
        premises (list[int]):
        inputs (JsonObject | Unset): any JSON object
    """

    theorem: str
    premises: list[int]
    inputs: JsonObject | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        premises = self.premises

        inputs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inputs, Unset):
            inputs = self.inputs.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "premises": premises,
            }
        )
        if inputs is not UNSET:
            field_dict["inputs"] = inputs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        theorem = d.pop("theorem")

        premises = cast(list[int], d.pop("premises"))

        _inputs = d.pop("inputs", UNSET)
        inputs: JsonObject | Unset
        if isinstance(_inputs, Unset):
            inputs = UNSET
        else:
            inputs = JsonObject.from_dict(_inputs)

        derivation_step = cls(
            theorem=theorem,
            premises=premises,
            inputs=inputs,
        )

        derivation_step.additional_properties = d
        return derivation_step

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
