from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.derivation_step_inputs import DerivationStepInputs


T = TypeVar("T", bound="DerivationStep")


@_attrs_define
class DerivationStep:
    """A theorem used, its inputs, and the places in this list of the steps it rests on."""

    theorem: str
    inputs: DerivationStepInputs
    premises: list[int]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        inputs = self.inputs.to_dict()

        premises = self.premises

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "inputs": inputs,
                "premises": premises,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.derivation_step_inputs import DerivationStepInputs

        d = dict(src_dict)
        theorem = d.pop("theorem")

        inputs = DerivationStepInputs.from_dict(d.pop("inputs"))

        premises = cast(list[int], d.pop("premises"))

        derivation_step = cls(
            theorem=theorem,
            inputs=inputs,
            premises=premises,
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
