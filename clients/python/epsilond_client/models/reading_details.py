from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reading import Reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.numbers import Numbers


T = TypeVar("T", bound="ReadingDetails")


@_attrs_define
class ReadingDetails:
    """What differs between one reading (interpretation) of an entry and the others.

    Attributes:
        reading (Reading):
        parameters (Numbers | Unset): numbers by name
        leaves_open (list[str] | Unset): names of the entry's parameters that this reading does not prescribe
        excess_risk (float | Unset): bound on the excess risk that the statement claims; absent if it claims none
        vacuous (bool | Unset): true: the bound is not below the baseline and carries no information
        conditions (list[Condition] | Unset): conditions of this reading that fail or cannot be decided, and that other
            readings of the entry do not share
    """

    reading: Reading
    parameters: Numbers | Unset = UNSET
    leaves_open: list[str] | Unset = UNSET
    excess_risk: float | Unset = UNSET
    vacuous: bool | Unset = UNSET
    conditions: list[Condition] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reading = self.reading.value

        parameters: dict[str, Any] | Unset = UNSET
        if not isinstance(self.parameters, Unset):
            parameters = self.parameters.to_dict()

        leaves_open: list[str] | Unset = UNSET
        if not isinstance(self.leaves_open, Unset):
            leaves_open = self.leaves_open

        excess_risk = self.excess_risk

        vacuous = self.vacuous

        conditions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.conditions, Unset):
            conditions = []
            for conditions_item_data in self.conditions:
                conditions_item = conditions_item_data.to_dict()
                conditions.append(conditions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reading": reading,
            }
        )
        if parameters is not UNSET:
            field_dict["parameters"] = parameters
        if leaves_open is not UNSET:
            field_dict["leaves_open"] = leaves_open
        if excess_risk is not UNSET:
            field_dict["excess_risk"] = excess_risk
        if vacuous is not UNSET:
            field_dict["vacuous"] = vacuous
        if conditions is not UNSET:
            field_dict["conditions"] = conditions

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.numbers import Numbers

        d = dict(src_dict)
        reading = Reading(d.pop("reading"))

        _parameters = d.pop("parameters", UNSET)
        parameters: Numbers | Unset
        if isinstance(_parameters, Unset):
            parameters = UNSET
        else:
            parameters = Numbers.from_dict(_parameters)

        leaves_open = cast(list[str], d.pop("leaves_open", UNSET))

        excess_risk = d.pop("excess_risk", UNSET)

        vacuous = d.pop("vacuous", UNSET)

        _conditions = d.pop("conditions", UNSET)
        conditions: list[Condition] | Unset = UNSET
        if _conditions is not UNSET:
            conditions = []
            for conditions_item_data in _conditions:
                conditions_item = Condition.from_dict(conditions_item_data)

                conditions.append(conditions_item)

        reading_details = cls(
            reading=reading,
            parameters=parameters,
            leaves_open=leaves_open,
            excess_risk=excess_risk,
            vacuous=vacuous,
            conditions=conditions,
        )

        reading_details.additional_properties = d
        return reading_details

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
