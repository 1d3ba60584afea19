from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.schedule_kind import ScheduleKind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Schedule")


@_attrs_define
class Schedule:
    """`constant`: The same value at every step.

    `explicit`: Listed values, one for each step.

    `inverse-time`: The value `scale`/t at step t. For example, step sizes 1/(λt) have `scale` 1/λ.

        Attributes:
            kind (ScheduleKind):
            value (float | Unset): value at every step
            values (list[float] | Unset): value at each step, in the order of the steps
            scale (float | Unset): value s at step 1; the value at step t is s/t
    """

    kind: ScheduleKind
    value: float | Unset = UNSET
    values: list[float] | Unset = UNSET
    scale: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        value = self.value

        values: list[float] | Unset = UNSET
        if not isinstance(self.values, Unset):
            values = self.values

        scale = self.scale

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value
        if values is not UNSET:
            field_dict["values"] = values
        if scale is not UNSET:
            field_dict["scale"] = scale

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = ScheduleKind(d.pop("kind"))

        value = d.pop("value", UNSET)

        values = cast(list[float], d.pop("values", UNSET))

        scale = d.pop("scale", UNSET)

        schedule = cls(
            kind=kind,
            value=value,
            values=values,
            scale=scale,
        )

        return schedule
