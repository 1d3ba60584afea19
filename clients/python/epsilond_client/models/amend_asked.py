from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.declaration import Declaration
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_change import PlanChange


T = TypeVar("T", bound="AmendAsked")


@_attrs_define
class AmendAsked:
    """A change of a plan: items to add, items with fewer runs, or whether a second person must approve.

    Attributes:
        add (list[PlanChange] | Unset): items to add to the plan. Their names must be new
        lower (list[PlanChange] | Unset): items whose number of planned runs is lowered
        declared (Declaration | Unset):
        approval (bool | Unset): true: amendments, voids and reconciliations take effect only when a second person has
            approved them; absent: unchanged
    """

    add: list[PlanChange] | Unset = UNSET
    lower: list[PlanChange] | Unset = UNSET
    declared: Declaration | Unset = UNSET
    approval: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        add: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.add, Unset):
            add = []
            for add_item_data in self.add:
                add_item = add_item_data.to_dict()
                add.append(add_item)

        lower: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.lower, Unset):
            lower = []
            for lower_item_data in self.lower:
                lower_item = lower_item_data.to_dict()
                lower.append(lower_item)

        declared: str | Unset = UNSET
        if not isinstance(self.declared, Unset):
            declared = self.declared.value

        approval = self.approval

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if add is not UNSET:
            field_dict["add"] = add
        if lower is not UNSET:
            field_dict["lower"] = lower
        if declared is not UNSET:
            field_dict["declared"] = declared
        if approval is not UNSET:
            field_dict["approval"] = approval

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_change import PlanChange

        d = dict(src_dict)
        _add = d.pop("add", UNSET)
        add: list[PlanChange] | Unset = UNSET
        if _add is not UNSET:
            add = []
            for add_item_data in _add:
                add_item = PlanChange.from_dict(add_item_data)

                add.append(add_item)

        _lower = d.pop("lower", UNSET)
        lower: list[PlanChange] | Unset = UNSET
        if _lower is not UNSET:
            lower = []
            for lower_item_data in _lower:
                lower_item = PlanChange.from_dict(lower_item_data)

                lower.append(lower_item)

        _declared = d.pop("declared", UNSET)
        declared: Declaration | Unset
        if isinstance(_declared, Unset):
            declared = UNSET
        else:
            declared = Declaration(_declared)

        approval = d.pop("approval", UNSET)

        amend_asked = cls(
            add=add,
            lower=lower,
            declared=declared,
            approval=approval,
        )

        return amend_asked
