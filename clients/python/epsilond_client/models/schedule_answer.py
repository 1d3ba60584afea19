from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ScheduleAnswer")


@_attrs_define
class ScheduleAnswer:
    """The rule for the standard deviation of the noise of every report.

    Attributes:
        base_std (float): standard deviation per coordinate of the noise of a client's first report. With a trusted
            server: of the noise in every round's mean
        rule (str): formula for the standard deviation of the noise of a report. participations is the number of the
            client's reports so far, with this one
        added_by (str): who draws new noise and subtracts the earlier noise: each client at its own reports, or the
            server in each round
        most_participations (int): largest number of reports of one client for which the guarantee holds. After them the
            client must stop
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
