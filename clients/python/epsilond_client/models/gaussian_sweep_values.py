from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.gaussian_sweep_values_field import (
    GaussianSweepValuesField,
    check_gaussian_sweep_values_field,
)

T = TypeVar("T", bound="GaussianSweepValues")


@_attrs_define
class GaussianSweepValues:
    """A field of gaussian and its values."""

    field: GaussianSweepValuesField
    values: list[Any]
    """ its values, 1 to 200; each is answered by itself """

    def to_dict(self) -> dict[str, Any]:
        field: str = self.field

        values = self.values

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "field": field,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        field = check_gaussian_sweep_values_field(d.pop("field"))

        values = cast(list[Any], d.pop("values"))

        gaussian_sweep_values = cls(
            field=field,
            values=values,
        )

        return gaussian_sweep_values
