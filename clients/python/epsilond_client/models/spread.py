from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.spread_largest_type_1 import (
    SpreadLargestType1,
    check_spread_largest_type_1,
)
from ..models.spread_least_type_1 import SpreadLeastType1, check_spread_least_type_1
from ..models.spread_mean_type_1 import SpreadMeanType1, check_spread_mean_type_1

T = TypeVar("T", bound="Spread")


@_attrs_define
class Spread:
    """One figure of each repetition."""

    mean: float | SpreadMeanType1
    """ a number, or unbounded """
    least: float | SpreadLeastType1
    """ a number, or unbounded """
    largest: float | SpreadLargestType1
    """ a number, or unbounded """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mean: float | str
        if isinstance(self.mean, str):
            mean = self.mean
        else:
            mean = self.mean

        least: float | str
        if isinstance(self.least, str):
            least = self.least
        else:
            least = self.least

        largest: float | str
        if isinstance(self.largest, str):
            largest = self.largest
        else:
            largest = self.largest

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mean": mean,
                "least": least,
                "largest": largest,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_mean(data: object) -> float | SpreadMeanType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                mean_type_1 = check_spread_mean_type_1(data)

                return mean_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SpreadMeanType1, data)

        mean = _parse_mean(d.pop("mean"))

        def _parse_least(data: object) -> float | SpreadLeastType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                least_type_1 = check_spread_least_type_1(data)

                return least_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SpreadLeastType1, data)

        least = _parse_least(d.pop("least"))

        def _parse_largest(data: object) -> float | SpreadLargestType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                largest_type_1 = check_spread_largest_type_1(data)

                return largest_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | SpreadLargestType1, data)

        largest = _parse_largest(d.pop("largest"))

        spread = cls(
            mean=mean,
            least=least,
            largest=largest,
        )

        spread.additional_properties = d
        return spread

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
