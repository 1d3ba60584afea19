from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.values import Values


T = TypeVar("T", bound="Reason")


@_attrs_define
class Reason:
    """The reason why an algorithm does not apply; or, if it applies, an assumption that was made for it.

    Attributes:
        message (str):
        pointer (str | Unset): JSON pointer to the field of the plan that the reason is about; absent if it is about no
            field
        allowed (str | Unset): values of this field with which the algorithm would apply
        condition (Condition | Unset): A condition of a theorem or of a guarantee. If it was evaluated, it has the
            values of both sides.
        nearest (Values | Unset): numbers or texts by name
    """

    message: str
    pointer: str | Unset = UNSET
    allowed: str | Unset = UNSET
    condition: Condition | Unset = UNSET
    nearest: Values | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        message = self.message

        pointer = self.pointer

        allowed = self.allowed

        condition: dict[str, Any] | Unset = UNSET
        if not isinstance(self.condition, Unset):
            condition = self.condition.to_dict()

        nearest: dict[str, Any] | Unset = UNSET
        if not isinstance(self.nearest, Unset):
            nearest = self.nearest.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "message": message,
            }
        )
        if pointer is not UNSET:
            field_dict["pointer"] = pointer
        if allowed is not UNSET:
            field_dict["allowed"] = allowed
        if condition is not UNSET:
            field_dict["condition"] = condition
        if nearest is not UNSET:
            field_dict["nearest"] = nearest

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.values import Values

        d = dict(src_dict)
        message = d.pop("message")

        pointer = d.pop("pointer", UNSET)

        allowed = d.pop("allowed", UNSET)

        _condition = d.pop("condition", UNSET)
        condition: Condition | Unset
        if isinstance(_condition, Unset):
            condition = UNSET
        else:
            condition = Condition.from_dict(_condition)

        _nearest = d.pop("nearest", UNSET)
        nearest: Values | Unset
        if isinstance(_nearest, Unset):
            nearest = UNSET
        else:
            nearest = Values.from_dict(_nearest)

        reason = cls(
            message=message,
            pointer=pointer,
            allowed=allowed,
            condition=condition,
            nearest=nearest,
        )

        reason.additional_properties = d
        return reason

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
