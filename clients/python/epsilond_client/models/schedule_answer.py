from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ScheduleAnswer")


@_attrs_define
class ScheduleAnswer:
    """The noise of every report, as a rule.

    Attributes:
        base_std (float): σ of a client's first report, or of every round of a trusted server
        rule (str): σ of a report; participations counts the client's own, this one included
        added_by (str): who draws the noise of a round and subtracts the noise of the round before
        most_participations (int): reports of a client for which the noise is enough; then it must stop
    """

    base_std: float
    rule: str
    added_by: str
    most_participations: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_std = self.base_std

        rule = self.rule

        added_by = self.added_by

        most_participations = self.most_participations

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "base_std": base_std,
                "rule": rule,
                "added_by": added_by,
                "most_participations": most_participations,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        base_std = d.pop("base_std")

        rule = d.pop("rule")

        added_by = d.pop("added_by")

        most_participations = d.pop("most_participations")

        schedule_answer = cls(
            base_std=base_std,
            rule=rule,
            added_by=added_by,
            most_participations=most_participations,
        )

        schedule_answer.additional_properties = d
        return schedule_answer

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
