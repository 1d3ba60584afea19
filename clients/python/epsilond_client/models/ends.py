from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded

T = TypeVar("T", bound="Ends")


@_attrs_define
class Ends:
    """A lower and an upper bound, between which the true value is.

    Attributes:
        lower (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
        upper (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
    """

    lower: float | Unbounded
    upper: float | Unbounded
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lower: float | str
        if isinstance(self.lower, Unbounded):
            lower = self.lower.value
        else:
            lower = self.lower

        upper: float | str
        if isinstance(self.upper, Unbounded):
            upper = self.upper.value
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

        def _parse_lower(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        lower = _parse_lower(d.pop("lower"))

        def _parse_upper(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

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
