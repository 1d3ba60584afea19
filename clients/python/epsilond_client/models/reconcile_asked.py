from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.declaration import Declaration

T = TypeVar("T", bound="ReconcileAsked")


@_attrs_define
class ReconcileAsked:
    """Declaration of an operator who accepts a log that lacks entries.

    Attributes:
        declared (Declaration):
    """

    declared: Declaration

    def to_dict(self) -> dict[str, Any]:
        declared = self.declared.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "declared": declared,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        declared = Declaration(d.pop("declared"))

        reconcile_asked = cls(
            declared=declared,
        )

        return reconcile_asked
