from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.texts import Texts


T = TypeVar("T", bound="ChargeAnswer")


@_attrs_define
class ChargeAnswer:
    """Cost of a job: a number of runs of a planned item, or amounts of a slot of the privacy budget.

    Attributes:
        count (int): number of runs that are paid for
        parts (Texts): texts of the page by their names
        item (str | Unset): name of the item of the plan that pays; absent if a slot pays
        slot (str | Unset): kind of the slot that pays; absent if an item of the plan pays
        each (Texts | Unset): texts of the page by their names
        remaining (str | Unset): amount of μ² that was left in the Gaussian slot before the job; absent unless the job
            is not Gaussian and that slot pays
        theorem (str | Unset): id of the theorem that proves that the charge covers the runs; absent if an item of the
            plan pays
    """

    count: int
    parts: Texts
    item: str | Unset = UNSET
    slot: str | Unset = UNSET
    each: Texts | Unset = UNSET
    remaining: str | Unset = UNSET
    theorem: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        parts = self.parts.to_dict()

        item = self.item

        slot = self.slot

        each: dict[str, Any] | Unset = UNSET
        if not isinstance(self.each, Unset):
            each = self.each.to_dict()

        remaining = self.remaining

        theorem = self.theorem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count": count,
                "parts": parts,
            }
        )
        if item is not UNSET:
            field_dict["item"] = item
        if slot is not UNSET:
            field_dict["slot"] = slot
        if each is not UNSET:
            field_dict["each"] = each
        if remaining is not UNSET:
            field_dict["remaining"] = remaining
        if theorem is not UNSET:
            field_dict["theorem"] = theorem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.texts import Texts

        d = dict(src_dict)
        count = d.pop("count")

        parts = Texts.from_dict(d.pop("parts"))

        item = d.pop("item", UNSET)

        slot = d.pop("slot", UNSET)

        _each = d.pop("each", UNSET)
        each: Texts | Unset
        if isinstance(_each, Unset):
            each = UNSET
        else:
            each = Texts.from_dict(_each)

        remaining = d.pop("remaining", UNSET)

        theorem = d.pop("theorem", UNSET)

        charge_answer = cls(
            count=count,
            parts=parts,
            item=item,
            slot=slot,
            each=each,
            remaining=remaining,
            theorem=theorem,
        )

        charge_answer.additional_properties = d
        return charge_answer

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
