from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.axis_scale import AxisScale, check_axis_scale
from ..types import UNSET, Unset

T = TypeVar("T", bound="Axis")


@_attrs_define
class Axis:
    """One direction of the grid. `title` says in words what it is, with the unit."""

    name: str
    title: str
    scale: AxisScale | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        title = self.title

        scale: str | Unset = UNSET
        if not isinstance(self.scale, Unset):
            scale = self.scale

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "title": title,
            }
        )
        if scale is not UNSET:
            field_dict["scale"] = scale

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        title = d.pop("title")

        _scale = d.pop("scale", UNSET)
        scale: AxisScale | Unset
        if isinstance(_scale, Unset):
            scale = UNSET
        else:
            scale = check_axis_scale(_scale)

        axis = cls(
            name=name,
            title=title,
            scale=scale,
        )

        axis.additional_properties = d
        return axis

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
