from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ResourceAnswer")


@_attrs_define
class ResourceAnswer:
    """The part of a slot, or the item of the plan, that runs out first.

    Attributes:
        share_used (float): amount used or reserved, as a share of the capacity or of the planned runs
        remaining (str): what is neither used nor reserved: an amount as a decimal string, or for an item a number of
            runs
        item (str | Unset): name of the item of the plan; absent if it is a slot
        slot (str | Unset): kind of the slot; absent if it is an item of the plan
        part (str | Unset): name of the part of the slot's capacity; absent if it is an item of the plan
    """

    share_used: float
    remaining: str
    item: str | Unset = UNSET
    slot: str | Unset = UNSET
    part: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        share_used = self.share_used

        remaining = self.remaining

        item = self.item

        slot = self.slot

        part = self.part

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "share_used": share_used,
                "remaining": remaining,
            }
        )
        if item is not UNSET:
            field_dict["item"] = item
        if slot is not UNSET:
            field_dict["slot"] = slot
        if part is not UNSET:
            field_dict["part"] = part

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        share_used = d.pop("share_used")

        remaining = d.pop("remaining")

        item = d.pop("item", UNSET)

        slot = d.pop("slot", UNSET)

        part = d.pop("part", UNSET)

        resource_answer = cls(
            share_used=share_used,
            remaining=remaining,
            item=item,
            slot=slot,
            part=part,
        )

        resource_answer.additional_properties = d
        return resource_answer

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
