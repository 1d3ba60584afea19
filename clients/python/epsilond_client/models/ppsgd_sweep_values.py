from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.ppsgd_sweep_values_field import (
    PpsgdSweepValuesField,
    check_ppsgd_sweep_values_field,
)

T = TypeVar("T", bound="PpsgdSweepValues")


@_attrs_define
class PpsgdSweepValues:
    """A field of ppsgd and its values."""

    field: PpsgdSweepValuesField
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
        field = check_ppsgd_sweep_values_field(d.pop("field"))

        values = cast(list[Any], d.pop("values"))

        ppsgd_sweep_values = cls(
            field=field,
            values=values,
        )

        return ppsgd_sweep_values
