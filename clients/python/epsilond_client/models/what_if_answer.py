from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.charge_answer import ChargeAnswer
    from ..models.resource_answer import ResourceAnswer
    from ..models.values import Values
    from ..models.what_if_answer_held_by_others import WhatIfAnswerHeldByOthers


T = TypeVar("T", bound="WhatIfAnswer")


@_attrs_define
class WhatIfAnswer:
    """Whether a job fits. Nothing was changed, and nothing is held.

    Attributes:
        fits (bool):
        count (int): number of runs in the question
        nearest (Values): numbers or texts by name
        held_by_others (WhatIfAnswerHeldByOthers): amounts that existing reservations hold, by kind of slot and name of
            part
        charge (ChargeAnswer | Unset): Cost of a job: a number of runs of a planned item, or amounts of a slot of the
            privacy budget.
        reason (str | Unset): why the job does not fit; absent if it fits
        runs_out_first (ResourceAnswer | Unset): The part of a slot, or the item of the plan, that runs out first.
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    fits: bool
    count: int
    nearest: Values
    held_by_others: WhatIfAnswerHeldByOthers
    charge: ChargeAnswer | Unset = UNSET
    reason: str | Unset = UNSET
    runs_out_first: ResourceAnswer | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fits = self.fits

        count = self.count

        nearest = self.nearest.to_dict()

        held_by_others = self.held_by_others.to_dict()

        charge: dict[str, Any] | Unset = UNSET
        if not isinstance(self.charge, Unset):
            charge = self.charge.to_dict()

        reason = self.reason

        runs_out_first: dict[str, Any] | Unset = UNSET
        if not isinstance(self.runs_out_first, Unset):
            runs_out_first = self.runs_out_first.to_dict()

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fits": fits,
                "count": count,
                "nearest": nearest,
                "held_by_others": held_by_others,
            }
        )
        if charge is not UNSET:
            field_dict["charge"] = charge
        if reason is not UNSET:
            field_dict["reason"] = reason
        if runs_out_first is not UNSET:
            field_dict["runs_out_first"] = runs_out_first
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.charge_answer import ChargeAnswer
        from ..models.resource_answer import ResourceAnswer
        from ..models.values import Values
        from ..models.what_if_answer_held_by_others import WhatIfAnswerHeldByOthers

        d = dict(src_dict)
        fits = d.pop("fits")

        count = d.pop("count")

        nearest = Values.from_dict(d.pop("nearest"))

        held_by_others = WhatIfAnswerHeldByOthers.from_dict(d.pop("held_by_others"))

        _charge = d.pop("charge", UNSET)
        charge: ChargeAnswer | Unset
        if isinstance(_charge, Unset):
            charge = UNSET
        else:
            charge = ChargeAnswer.from_dict(_charge)

        reason = d.pop("reason", UNSET)

        _runs_out_first = d.pop("runs_out_first", UNSET)
        runs_out_first: ResourceAnswer | Unset
        if isinstance(_runs_out_first, Unset):
            runs_out_first = UNSET
        else:
            runs_out_first = ResourceAnswer.from_dict(_runs_out_first)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        what_if_answer = cls(
            fits=fits,
            count=count,
            nearest=nearest,
            held_by_others=held_by_others,
            charge=charge,
            reason=reason,
            runs_out_first=runs_out_first,
            warnings=warnings,
        )

        what_if_answer.additional_properties = d
        return what_if_answer

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
