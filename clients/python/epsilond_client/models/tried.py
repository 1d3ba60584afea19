from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded
from ..types import UNSET, Unset

T = TypeVar("T", bound="Tried")


@_attrs_define
class Tried:
    """A value of the field that was tried, with its risk bound; `risk` is absent if the value has no answer.

    Attributes:
        value (float):
        risk (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
    """

    value: float
    risk: float | Unbounded | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = self.value

        risk: float | str | Unset
        if isinstance(self.risk, Unset):
            risk = UNSET
        elif isinstance(self.risk, Unbounded):
            risk = self.risk.value
        else:
            risk = self.risk

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
            }
        )
        if risk is not UNSET:
            field_dict["risk"] = risk

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        value = d.pop("value")

        def _parse_risk(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        risk = _parse_risk(d.pop("risk", UNSET))

        tried = cls(
            value=value,
            risk=risk,
        )

        tried.additional_properties = d
        return tried

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
