from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.planned_risk_constant import (
    PlannedRiskConstant,
    check_planned_risk_constant,
)
from ..models.planned_risk_value_type_1 import (
    PlannedRiskValueType1,
    check_planned_risk_value_type_1,
)

T = TypeVar("T", bound="PlannedRisk")


@_attrs_define
class PlannedRisk:
    """An upper bound on the excess risk; with a hidden constant it is an order, and never ranked."""

    value: float | PlannedRiskValueType1
    """ a number, or unbounded """
    constant: PlannedRiskConstant
    theorem: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value: float | str
        if isinstance(self.value, str):
            value = self.value
        else:
            value = self.value

        constant: str = self.constant

        theorem = self.theorem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
                "constant": constant,
                "theorem": theorem,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_value(data: object) -> float | PlannedRiskValueType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                value_type_1 = check_planned_risk_value_type_1(data)

                return value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | PlannedRiskValueType1, data)

        value = _parse_value(d.pop("value"))

        constant = check_planned_risk_constant(d.pop("constant"))

        theorem = d.pop("theorem")

        planned_risk = cls(
            value=value,
            constant=constant,
            theorem=theorem,
        )

        planned_risk.additional_properties = d
        return planned_risk

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
