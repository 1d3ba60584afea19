from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.unbounded import Unbounded
from ..models.verdict import Verdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="Condition")


@_attrs_define
class Condition:
    """A condition of a theorem or of a guarantee. If it was evaluated, it has the values of both sides.

    Attributes:
        id (str):
        statement (str | Unset): the condition in words. Absent if an earlier condition in this entry has the same id
            and states it
        holds (Verdict | Unset): Whether a statement is true: `yes`, `no`, or `undecidable` from what is known.
        left (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        right (float | Unbounded | Unset): a number; "unbounded" or "-unbounded" if it is infinite
        kind (str | Unset):
    """

    id: str
    statement: str | Unset = UNSET
    holds: Verdict | Unset = UNSET
    left: float | Unbounded | Unset = UNSET
    right: float | Unbounded | Unset = UNSET
    kind: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        statement = self.statement

        holds: str | Unset = UNSET
        if not isinstance(self.holds, Unset):
            holds = self.holds.value

        left: float | str | Unset
        if isinstance(self.left, Unset):
            left = UNSET
        elif isinstance(self.left, Unbounded):
            left = self.left.value
        else:
            left = self.left

        right: float | str | Unset
        if isinstance(self.right, Unset):
            right = UNSET
        elif isinstance(self.right, Unbounded):
            right = self.right.value
        else:
            right = self.right

        kind = self.kind

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
            }
        )
        if statement is not UNSET:
            field_dict["statement"] = statement
        if holds is not UNSET:
            field_dict["holds"] = holds
        if left is not UNSET:
            field_dict["left"] = left
        if right is not UNSET:
            field_dict["right"] = right
        if kind is not UNSET:
            field_dict["kind"] = kind

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        statement = d.pop("statement", UNSET)

        _holds = d.pop("holds", UNSET)
        holds: Verdict | Unset
        if isinstance(_holds, Unset):
            holds = UNSET
        else:
            holds = Verdict(_holds)

        def _parse_left(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        left = _parse_left(d.pop("left", UNSET))

        def _parse_right(data: object) -> float | Unbounded | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                componentsschemas_figure_type_1 = Unbounded(data)

                return componentsschemas_figure_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(float | Unbounded | Unset, data)

        right = _parse_right(d.pop("right", UNSET))

        kind = d.pop("kind", UNSET)

        condition = cls(
            id=id,
            statement=statement,
            holds=holds,
            left=left,
            right=right,
            kind=kind,
        )

        condition.additional_properties = d
        return condition

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
