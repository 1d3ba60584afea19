from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.baseline_value_type_1 import (
    BaselineValueType1,
    check_baseline_value_type_1,
)

T = TypeVar("T", bound="Baseline")


@_attrs_define
class Baseline:
    """What doing nothing gives: a bound that holds for the start itself, before any training."""

    value: BaselineValueType1 | float
    """ a number, or unbounded """
    theorem: str
    """ the theorem that gives it """
    formula: str
    """ what it is, in symbols """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value: float | str
        if isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        theorem = self.theorem

        formula = self.formula

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
                "theorem": theorem,
                "formula": formula,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_value(data: object) -> BaselineValueType1 | float:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_baseline_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BaselineValueType1 | float, data)

        value = _parse_value(d.pop("value"))

        theorem = d.pop("theorem")

        formula = d.pop("formula")

        baseline = cls(
            value=value,
            theorem=theorem,
            formula=formula,
        )

        baseline.additional_properties = d
        return baseline

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
