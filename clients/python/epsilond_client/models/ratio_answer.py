from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded

T = TypeVar("T", bound="RatioAnswer")


@_attrs_define
class RatioAnswer:
    """The ratio of an upper bound, or of its order, to the order of a lower bound.

    Attributes:
        upper (str): id of the theorem of the upper bound
        lower (str): id of the theorem of the lower bound
        value (float | Unbounded): a number; "unbounded" or "-unbounded" if it is infinite
        statement (str): which constants the ratio hides, and which conditions of the lower bound fail, in words
    """

    upper: str
    lower: str
    value: float | Unbounded
    statement: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        upper = self.upper

        lower = self.lower

        value: float | str
        if isinstance(self.value, Unbounded):
            value = self.value.value
        else:
            value = self.value

        statement = self.statement

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "upper": upper,
                "lower": lower,
                "value": value,
                "statement": statement,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        upper = d.pop("upper")

        lower = d.pop("lower")

        def _parse_value(data: object) -> float | Unbounded:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded, data)

        value = _parse_value(d.pop("value"))

        statement = d.pop("statement")

        ratio_answer = cls(
            upper=upper,
            lower=lower,
            value=value,
            statement=statement,
        )

        ratio_answer.additional_properties = d
        return ratio_answer

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
