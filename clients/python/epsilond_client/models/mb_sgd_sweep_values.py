from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.mb_sgd_sweep_values_field import (
    MbSgdSweepValuesField,
    check_mb_sgd_sweep_values_field,
)

T = TypeVar("T", bound="MbSgdSweepValues")


@_attrs_define
class MbSgdSweepValues:
    """A field of mb-sgd and its values."""

    field: MbSgdSweepValuesField
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
        field = check_mb_sgd_sweep_values_field(d.pop("field"))

        values = cast(list[Any], d.pop("values"))

        mb_sgd_sweep_values = cls(
            field=field,
            values=values,
        )

        return mb_sgd_sweep_values
