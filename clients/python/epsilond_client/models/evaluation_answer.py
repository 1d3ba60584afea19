from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reading import Reading
from ..models.status import Status

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.erratum import Erratum
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="EvaluationAnswer")


@_attrs_define
class EvaluationAnswer:
    """The outputs of a formula, with the theorem's conditions, status and errata.

    Attributes:
        outputs (JsonObject): any JSON object
        conditions (list[Condition]):
        status (Status): Whether the statement, read as it is used here, holds.
        errata (list[Erratum]):
        reading (Reading):
    """

    outputs: JsonObject
    conditions: list[Condition]
    status: Status
    errata: list[Erratum]
    reading: Reading
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        outputs = self.outputs.to_dict()

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.to_dict()
            conditions.append(conditions_item)

        status = self.status.value

        errata = []
        for errata_item_data in self.errata:
            errata_item = errata_item_data.to_dict()
            errata.append(errata_item)

        reading = self.reading.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "outputs": outputs,
                "conditions": conditions,
                "status": status,
                "errata": errata,
                "reading": reading,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.erratum import Erratum
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        outputs = JsonObject.from_dict(d.pop("outputs"))

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = Condition.from_dict(conditions_item_data)

            conditions.append(conditions_item)

        status = Status(d.pop("status"))

        errata = []
        _errata = d.pop("errata")
        for errata_item_data in _errata:
            errata_item = Erratum.from_dict(errata_item_data)

            errata.append(errata_item)

        reading = Reading(d.pop("reading"))

        evaluation_answer = cls(
            outputs=outputs,
            conditions=conditions,
            status=status,
            errata=errata,
            reading=reading,
        )

        evaluation_answer.additional_properties = d
        return evaluation_answer

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
