from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reading import Reading, check_reading

if TYPE_CHECKING:
    from ..models.evaluation_asked_inputs import EvaluationAskedInputs


T = TypeVar("T", bound="EvaluationAsked")


@_attrs_define
class EvaluationAsked:
    """What to ask of `POST /v1/theorems/{theorem}/evaluations` for the same figures."""

    theorem: str
    reading: Reading
    inputs: EvaluationAskedInputs
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        reading: str = self.reading

        inputs = self.inputs.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "reading": reading,
                "inputs": inputs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.evaluation_asked_inputs import EvaluationAskedInputs

        d = dict(src_dict)
        theorem = d.pop("theorem")

        reading = check_reading(d.pop("reading"))

        inputs = EvaluationAskedInputs.from_dict(d.pop("inputs"))

        evaluation_asked = cls(
            theorem=theorem,
            reading=reading,
            inputs=inputs,
        )

        evaluation_asked.additional_properties = d
        return evaluation_asked

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
