from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.theorem_detail import TheoremDetail


T = TypeVar("T", bound="TheoremList")


@_attrs_define
class TheoremList:
    """The theorems that pass the filter, in the order of the catalogue.

    Attributes:
        theorems (list[TheoremDetail]):
    """

    theorems: list[TheoremDetail]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorems = []
        for theorems_item_data in self.theorems:
            theorems_item = theorems_item_data.to_dict()
            theorems.append(theorems_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorems": theorems,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.theorem_detail import TheoremDetail

        d = dict(src_dict)
        theorems = []
        _theorems = d.pop("theorems")
        for theorems_item_data in _theorems:
            theorems_item = TheoremDetail.from_dict(theorems_item_data)

            theorems.append(theorems_item)

        theorem_list = cls(
            theorems=theorems,
        )

        theorem_list.additional_properties = d
        return theorem_list

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
