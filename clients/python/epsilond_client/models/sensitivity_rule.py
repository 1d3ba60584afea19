from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SensitivityRule")


@_attrs_define
class SensitivityRule:
    """A rule from which the sensitivities are computed. The kind decides which of the other fields are needed.

    Attributes:
        kind (str): what is assumed of neighbouring updates. trivial: any two points of the cube [−1, 1]^d. unit-vector:
            any two unit vectors. coupled, hoeffding: the update_ distances, if both are rounded with the same random
            numbers. relative: equation (6) of Das et al.
        update_l1 (float | Unset): largest ℓ1 distance between the normalised updates (of norm 1) of two neighbouring
            data sets, before rounding
        update_l2 (float | Unset): largest ℓ2 distance between the normalised updates (of norm 1) of two neighbouring
            data sets, before rounding
        update_linf (float | Unset): largest difference in one coordinate between the normalised updates (of norm 1) of
            two neighbouring data sets, before rounding
        failure_delta (float | Unset): probability, over the random rounding, that two neighbouring integer vectors are
            further apart than the sensitivities state
        relative_movement (float | Unset): μ in equation (6) of Das et al.: largest ℓ2 distance between the normalised
            updates (of norm 1) of two neighbouring data sets
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
