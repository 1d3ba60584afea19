from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.slot_kind import SlotKind

if TYPE_CHECKING:
    from ..models.texts import Texts


T = TypeVar("T", bound="SlotAnswer")


@_attrs_define
class SlotAnswer:
    """A slot with its amounts: `remaining` is neither used nor reserved, and may still be charged.

    Attributes:
        kind (SlotKind):
        capacity (Texts): texts of the page by their names
        used (Texts): texts of the page by their names
        reserved (Texts): texts of the page by their names
        remaining (Texts): texts of the page by their names
    """

    kind: SlotKind
    capacity: Texts
    used: Texts
    reserved: Texts
    remaining: Texts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        capacity = self.capacity.to_dict()

        used = self.used.to_dict()

        reserved = self.reserved.to_dict()

        remaining = self.remaining.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "capacity": capacity,
                "used": used,
                "reserved": reserved,
                "remaining": remaining,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.texts import Texts

        d = dict(src_dict)
        kind = SlotKind(d.pop("kind"))

        capacity = Texts.from_dict(d.pop("capacity"))

        used = Texts.from_dict(d.pop("used"))

        reserved = Texts.from_dict(d.pop("reserved"))

        remaining = Texts.from_dict(d.pop("remaining"))

        slot_answer = cls(
            kind=kind,
            capacity=capacity,
            used=used,
            reserved=reserved,
            remaining=remaining,
        )

        slot_answer.additional_properties = d
        return slot_answer

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
