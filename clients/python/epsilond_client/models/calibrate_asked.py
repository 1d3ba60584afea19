from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.slot_kind import SlotKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="CalibrateAsked")


@_attrs_define
class CalibrateAsked:
    """An algorithm to be calibrated within the remaining budget of a ledger, of a slot or of an item of the plan.

    A slot is a budget for runs that are not planned. If neither is named, the Gaussian slot, or the only slot, is used.

        Attributes:
            fields (JsonObject): any JSON object
            slot (SlotKind | Unset):
            item (str | Unset): name of the item of the plan from which the run would be paid
            eta (float | str | Unset): a number, or a text
    """

    fields: JsonObject
    slot: SlotKind | Unset = UNSET
    item: str | Unset = UNSET
    eta: float | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        fields = self.fields.to_dict()

        slot: str | Unset = UNSET
        if not isinstance(self.slot, Unset):
            slot = self.slot.value

        item = self.item

        eta: float | str | Unset
        if isinstance(self.eta, Unset):
            eta = UNSET
        else:
            eta = self.eta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "fields": fields,
            }
        )
        if slot is not UNSET:
            field_dict["slot"] = slot
        if item is not UNSET:
            field_dict["item"] = item
        if eta is not UNSET:
            field_dict["eta"] = eta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        fields = JsonObject.from_dict(d.pop("fields"))

        _slot = d.pop("slot", UNSET)
        slot: SlotKind | Unset
        if isinstance(_slot, Unset):
            slot = UNSET
        else:
            slot = SlotKind(_slot)

        item = d.pop("item", UNSET)

        def _parse_eta(data: object) -> float | str | Unset:
            if isinstance(data, Unset):
                return data
            return cast(float | str | Unset, data)

        eta = _parse_eta(d.pop("eta", UNSET))

        calibrate_asked = cls(
            fields=fields,
            slot=slot,
            item=item,
            eta=eta,
        )

        return calibrate_asked
