from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.verdict import Verdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConsideredAnswer")


@_attrs_define
class ConsideredAnswer:
    """A theorem that was tried for the run, and whether it applies.

    Attributes:
        theorem (str):
        applies (Verdict): Whether a statement is true: `yes`, `no`, or `undecidable` from what is known.
        reason (str | Unset): why the theorem does not apply to this run; absent if it applies
    """

    theorem: str
    applies: Verdict
    reason: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        applies = self.applies.value

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "applies": applies,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        theorem = d.pop("theorem")

        applies = Verdict(d.pop("applies"))

        reason = d.pop("reason", UNSET)

        considered_answer = cls(
            theorem=theorem,
            applies=applies,
            reason=reason,
        )

        considered_answer.additional_properties = d
        return considered_answer

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
