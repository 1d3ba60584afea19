from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.slot_kind import SlotKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.capacity import Capacity


T = TypeVar("T", bound="SlotAsked")


@_attrs_define
class SlotAsked:
    """A slot: its kind, and its capacity by parts; without a capacity the largest that the target allows.

    Attributes:
        kind (SlotKind):
        capacity (Capacity | str | Unset): capacity as the amounts of its parts; or "largest", which is as much as the
            target leaves
    """

    kind: SlotKind
    capacity: Capacity | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.capacity import Capacity

        kind = self.kind.value

        capacity: dict[str, Any] | str | Unset
        if isinstance(self.capacity, Unset):
            capacity = UNSET
        elif isinstance(self.capacity, Capacity):
            capacity = self.capacity.to_dict()
        else:
            capacity = self.capacity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if capacity is not UNSET:
            field_dict["capacity"] = capacity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.capacity import Capacity

        d = dict(src_dict)
        kind = SlotKind(d.pop("kind"))

        def _parse_capacity(data: object) -> Capacity | str | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                capacity_type_1 = Capacity.from_dict(data)

                return capacity_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Capacity | str | Unset, data)

        capacity = _parse_capacity(d.pop("capacity", UNSET))

        slot_asked = cls(
            kind=kind,
            capacity=capacity,
        )

        return slot_asked
