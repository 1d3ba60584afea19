from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.listed_condition_kind import (
    ListedConditionKind,
    check_listed_condition_kind,
)

T = TypeVar("T", bound="ListedCondition")


@_attrs_define
class ListedCondition:
    """A premise: checked by us, declared by the caller, or undecidable by finite inputs."""

    id: str
    statement: str
    kind: ListedConditionKind
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        statement = self.statement

        kind: str = self.kind

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "statement": statement,
                "kind": kind,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        statement = d.pop("statement")

        kind = check_listed_condition_kind(d.pop("kind"))

        listed_condition = cls(
            id=id,
            statement=statement,
            kind=kind,
        )

        listed_condition.additional_properties = d
        return listed_condition

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
