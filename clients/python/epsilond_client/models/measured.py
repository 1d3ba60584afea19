from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.measured_lower_type_1 import (
    MeasuredLowerType1,
    check_measured_lower_type_1,
)
from ..models.measured_mean_type_1 import MeasuredMeanType1, check_measured_mean_type_1
from ..models.measured_standard_error_type_1 import (
    MeasuredStandardErrorType1,
    check_measured_standard_error_type_1,
)
from ..models.measured_upper_type_1 import (
    MeasuredUpperType1,
    check_measured_upper_type_1,
)

T = TypeVar("T", bound="Measured")


@_attrs_define
class Measured:
    """A mean excess risk: measured, with the ends of its confidence interval. In the unit of the loss."""

    mean: float | MeasuredMeanType1
    """ a number, or unbounded """
    lower: float | MeasuredLowerType1
    """ a number, or unbounded """
    upper: float | MeasuredUpperType1
    """ a number, or unbounded """
    standard_error: float | MeasuredStandardErrorType1
    """ a number, or unbounded """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mean: float | str
        if isinstance(self.mean, str):
            mean = self.mean
        else:
            mean = self.mean

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

        standard_error: float | str
        if isinstance(self.standard_error, str):
            standard_error = self.standard_error
        else:
            standard_error = self.standard_error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mean": mean,
                "lower": lower,
                "upper": upper,
                "standard_error": standard_error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_mean(data: object) -> float | MeasuredMeanType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                mean_type_1 = check_measured_mean_type_1(data)

                return mean_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | MeasuredMeanType1, data)

        mean = _parse_mean(d.pop("mean"))

        def _parse_lower(data: object) -> float | MeasuredLowerType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lower_type_1 = check_measured_lower_type_1(data)

                return lower_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | MeasuredLowerType1, data)

        lower = _parse_lower(d.pop("lower"))

        def _parse_upper(data: object) -> float | MeasuredUpperType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                upper_type_1 = check_measured_upper_type_1(data)

                return upper_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | MeasuredUpperType1, data)

        upper = _parse_upper(d.pop("upper"))

        def _parse_standard_error(data: object) -> float | MeasuredStandardErrorType1:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                standard_error_type_1 = check_measured_standard_error_type_1(data)

                return standard_error_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | MeasuredStandardErrorType1, data)

        standard_error = _parse_standard_error(d.pop("standard_error"))

        measured = cls(
            mean=mean,
            lower=lower,
            upper=upper,
            standard_error=standard_error,
        )

        measured.additional_properties = d
        return measured

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
