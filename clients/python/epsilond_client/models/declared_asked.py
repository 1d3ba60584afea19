from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.declaration import Declaration

T = TypeVar("T", bound="DeclaredAsked")


@_attrs_define
class DeclaredAsked:
    """Declarations about the data and its use, which no computation can check. The guarantee depends on them.

    Attributes:
        inputs (Declaration):
        sealed (bool): true: it is declared that the membership of the block is fixed
        released_before (bool): true: outputs that were computed from the block have been released before
    """

    inputs: Declaration
    sealed: bool
    released_before: bool

    def to_dict(self) -> dict[str, Any]:
        inputs = self.inputs.value

        sealed = self.sealed

        released_before = self.released_before

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "inputs": inputs,
                "sealed": sealed,
                "released_before": released_before,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        inputs = Declaration(d.pop("inputs"))

        sealed = d.pop("sealed")

        released_before = d.pop("released_before")

        declared_asked = cls(
            inputs=inputs,
            sealed=sealed,
            released_before=released_before,
        )

        return declared_asked
