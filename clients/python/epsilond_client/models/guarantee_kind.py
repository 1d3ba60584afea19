from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.guarantee_kind_definition import (
    GuaranteeKindDefinition,
    check_guarantee_kind_definition,
)
from ..models.observer import Observer, check_observer
from ..models.relation import Relation, check_relation
from ..models.unit import Unit, check_unit

T = TypeVar("T", bound="GuaranteeKind")


@_attrs_define
class GuaranteeKind:
    """Who trusts whom, whose data is protected, what a neighbour is, and who sees what."""

    definition: GuaranteeKindDefinition
    unit: Unit
    relation: Relation
    observer: Observer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        definition: str = self.definition

        unit: str = self.unit

        relation: str = self.relation

        observer: str = self.observer

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "definition": definition,
                "unit": unit,
                "relation": relation,
                "observer": observer,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        definition = check_guarantee_kind_definition(d.pop("definition"))

        unit = check_unit(d.pop("unit"))

        relation = check_relation(d.pop("relation"))

        observer = check_observer(d.pop("observer"))

        guarantee_kind = cls(
            definition=definition,
            unit=unit,
            relation=relation,
            observer=observer,
        )

        guarantee_kind.additional_properties = d
        return guarantee_kind

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
