from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Sweep")


@_attrs_define
class Sweep:
    """One field of a calibration and the values it takes.

    Attributes:
        field (str): name of the field that takes different values. A value of this field elsewhere in the body is
            ignored
        values (list[Any]): values of the swept field, 1 to 200; each is answered separately
        true_figures (bool | Unset): true: where a printed formula prescribes parameters, the certified guarantee there
            is computed too. For some algorithms this takes most of the time; use false for a plot
    """

    field: str
    values: list[Any]
    true_figures: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        field = self.field

        values = self.values

        true_figures = self.true_figures

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "field": field,
                "values": values,
            }
        )
        if true_figures is not UNSET:
            field_dict["true_figures"] = true_figures

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        field = d.pop("field")

        values = cast(list[Any], d.pop("values"))

        true_figures = d.pop("true_figures", UNSET)

        sweep = cls(
            field=field,
            values=values,
            true_figures=true_figures,
        )

        return sweep
