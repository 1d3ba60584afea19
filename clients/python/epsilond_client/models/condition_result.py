from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConditionResult")


@_attrs_define
class ConditionResult:
    """A condition evaluated at given inputs. Sides are absent where nothing can be computed."""

    id: str
    statement: str
    holds: bool | Literal["undecidable"]
    left: float | Unset = UNSET
    right: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        statement = self.statement

        holds: bool | Literal["undecidable"]
        holds = self.holds

        left = self.left

        right = self.right

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "statement": statement,
                "holds": holds,
            }
        )
        if left is not UNSET:
            field_dict["left"] = left
        if right is not UNSET:
            field_dict["right"] = right

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        statement = d.pop("statement")

        def _parse_holds(data: object) -> bool | Literal["undecidable"]:
            holds_type_1 = cast(Literal["undecidable"], data)
            if holds_type_1 != "undecidable":
                raise ValueError(f"holds_type_1 must match const 'undecidable', got '{holds_type_1}'")
            return holds_type_1
            return cast(bool | Literal["undecidable"], data)

        holds = _parse_holds(d.pop("holds"))

        left = d.pop("left", UNSET)

        right = d.pop("right", UNSET)

        condition_result = cls(
            id=id,
            statement=statement,
            holds=holds,
            left=left,
            right=right,
        )

        condition_result.additional_properties = d
        return condition_result

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
