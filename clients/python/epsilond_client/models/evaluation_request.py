from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="EvaluationRequest")


@_attrs_define
class EvaluationRequest:
    """The inputs of a theorem's formula; `inputs_schema` at /v1/theorems/{id} lists them.

    Attributes:
        inputs (JsonObject): any JSON object
        reading (Reading | Unset):
    """

    inputs: JsonObject
    reading: Reading | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        inputs = self.inputs.to_dict()

        reading: str | Unset = UNSET
        if not isinstance(self.reading, Unset):
            reading = self.reading.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "inputs": inputs,
            }
        )
        if reading is not UNSET:
            field_dict["reading"] = reading

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        inputs = JsonObject.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = Reading(_reading)

        evaluation_request = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluation_request
