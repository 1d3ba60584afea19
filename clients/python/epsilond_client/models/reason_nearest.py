from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reason_nearest_additional_property_type_0_type_1 import (
    ReasonNearestAdditionalPropertyType0Type1,
    check_reason_nearest_additional_property_type_0_type_1,
)

T = TypeVar("T", bound="ReasonNearest")


@_attrs_define
class ReasonNearest:
    """the closest values that would do"""

    additional_properties: dict[str, float | ReasonNearestAdditionalPropertyType0Type1 | str] = _attrs_field(
        init=False, factory=dict
    )

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            if isinstance(prop, str):
                field_dict[prop_name] = prop
            else:
                field_dict[prop_name] = prop

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason_nearest = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():

            def _parse_additional_property(data: object) -> float | ReasonNearestAdditionalPropertyType0Type1 | str:
                try:
                    if not isinstance(data, str):
                        raise TypeError()
                    additional_property_type_0_type_1 = check_reason_nearest_additional_property_type_0_type_1(data)

                    return additional_property_type_0_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                return cast(float | ReasonNearestAdditionalPropertyType0Type1 | str, data)

            additional_property = _parse_additional_property(prop_dict)

            additional_properties[prop_name] = additional_property

        reason_nearest.additional_properties = additional_properties
        return reason_nearest

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> float | ReasonNearestAdditionalPropertyType0Type1 | str:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: float | ReasonNearestAdditionalPropertyType0Type1 | str) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
