from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.one_pass_accelerated_mb_sgd_sweep_values_field import (
    OnePassAcceleratedMbSgdSweepValuesField,
    check_one_pass_accelerated_mb_sgd_sweep_values_field,
)

T = TypeVar("T", bound="OnePassAcceleratedMbSgdSweepValues")


@_attrs_define
class OnePassAcceleratedMbSgdSweepValues:
    """A field of one-pass-accelerated-mb-sgd and its values."""

    field: OnePassAcceleratedMbSgdSweepValuesField
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
        field = check_one_pass_accelerated_mb_sgd_sweep_values_field(d.pop("field"))

        values = cast(list[Any], d.pop("values"))

        one_pass_accelerated_mb_sgd_sweep_values = cls(
            field=field,
            values=values,
        )

        return one_pass_accelerated_mb_sgd_sweep_values
