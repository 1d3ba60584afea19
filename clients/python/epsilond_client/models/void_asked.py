from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.declaration import Declaration

T = TypeVar("T", bound="VoidAsked")


@_attrs_define
class VoidAsked:
    """Committed runs that are taken back, on the declaration that no output of them was seen.

    Attributes:
        reservation (str): id of the reservation with the committed runs
        count (int): number of runs
        declared (Declaration):
    """

    reservation: str
    count: int
    declared: Declaration

    def to_dict(self) -> dict[str, Any]:
        reservation = self.reservation

        count = self.count

        declared = self.declared.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reservation": reservation,
                "count": count,
                "declared": declared,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reservation = d.pop("reservation")

        count = d.pop("count")

        declared = Declaration(d.pop("declared"))

        void_asked = cls(
            reservation=reservation,
            count=count,
            declared=declared,
        )

        return void_asked
