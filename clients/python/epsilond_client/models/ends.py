from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.ends_lower_type_1 import EndsLowerType1, check_ends_lower_type_1
from ..models.ends_upper_type_1 import EndsUpperType1, check_ends_upper_type_1

T = TypeVar("T", bound="Ends")


@_attrs_define
class Ends:
    """A two-sided enclosure: lower ≤ truth ≤ upper."""

    lower: EndsLowerType1 | float
    """ a number, or unbounded """
    upper: EndsUpperType1 | float
    """ a number, or unbounded """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lower: float | str
        if isinstance(self.lower, str):
            lower = self.lower
        else:
            lower = self.lower

        upper: float | str
        if isinstance(self.upper, str):
            upper = self.upper
        else:
            upper = self.upper

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lower": lower,
                "upper": upper,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_lower(data: object) -> EndsLowerType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lower_type_1 = check_ends_lower_type_1(data)

                return lower_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EndsLowerType1 | float, data)

        lower = _parse_lower(d.pop("lower"))

        def _parse_upper(data: object) -> EndsUpperType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                upper_type_1 = check_ends_upper_type_1(data)

                return upper_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EndsUpperType1 | float, data)

        upper = _parse_upper(d.pop("upper"))

        ends = cls(
            lower=lower,
            upper=upper,
        )

        ends.additional_properties = d
        return ends

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
