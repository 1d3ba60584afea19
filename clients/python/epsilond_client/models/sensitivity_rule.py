from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SensitivityRule")


@_attrs_define
class SensitivityRule:
    """A rule for the sensitivities. The kind decides which of the other fields are needed.

    Attributes:
        kind (str): trivial: any two points of the cube; unit-vector: any two unit vectors; coupled, hoeffding:
            distances of the unit updates, rounded together; relative: equation (6)
        update_l1 (float | Unset): ℓ1 distance of the unit updates on neighbouring data
        update_l2 (float | Unset): ℓ2 distance of the unit updates on neighbouring data
        update_linf (float | Unset): largest difference of one coordinate of the unit update between neighbours
        failure_delta (float | Unset): probability, over the rounding, that the values move further than said
        relative_movement (float | Unset): ℓ2 distance of the unit updates on neighbouring data, in equation (6)
    """

    kind: str
    update_l1: float | Unset = UNSET
    update_l2: float | Unset = UNSET
    update_linf: float | Unset = UNSET
    failure_delta: float | Unset = UNSET
    relative_movement: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        update_l1 = self.update_l1

        update_l2 = self.update_l2

        update_linf = self.update_linf

        failure_delta = self.failure_delta

        relative_movement = self.relative_movement

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
            }
        )
        if update_l1 is not UNSET:
            field_dict["update_l1"] = update_l1
        if update_l2 is not UNSET:
            field_dict["update_l2"] = update_l2
        if update_linf is not UNSET:
            field_dict["update_linf"] = update_linf
        if failure_delta is not UNSET:
            field_dict["failure_delta"] = failure_delta
        if relative_movement is not UNSET:
            field_dict["relative_movement"] = relative_movement

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = d.pop("kind")

        update_l1 = d.pop("update_l1", UNSET)

        update_l2 = d.pop("update_l2", UNSET)

        update_linf = d.pop("update_linf", UNSET)

        failure_delta = d.pop("failure_delta", UNSET)

        relative_movement = d.pop("relative_movement", UNSET)

        sensitivity_rule = cls(
            kind=kind,
            update_l1=update_l1,
            update_l2=update_l2,
            update_linf=update_linf,
            failure_delta=failure_delta,
            relative_movement=relative_movement,
        )

        return sensitivity_rule
