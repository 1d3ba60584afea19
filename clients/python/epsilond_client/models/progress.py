from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Progress")


@_attrs_define
class Progress:
    """The progress of a job, in steps and seconds.

    Attributes:
        done (int): number of finished steps
        of (int): number of steps of the job: values of a sweep, algorithms of a plan, blocks of a simulation, or 1 for
            others
        seconds_spent (float | Unset): seconds since the first step began; absent while the job waits
        seconds_left (float | Unset): estimated number of seconds until the job is done, without time for waiting
    """

    done: int
    of: int
    seconds_spent: float | Unset = UNSET
    seconds_left: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        done = self.done

        of = self.of

        seconds_spent = self.seconds_spent

        seconds_left = self.seconds_left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "done": done,
                "of": of,
            }
        )
        if seconds_spent is not UNSET:
            field_dict["seconds_spent"] = seconds_spent
        if seconds_left is not UNSET:
            field_dict["seconds_left"] = seconds_left

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        done = d.pop("done")

        of = d.pop("of")

        seconds_spent = d.pop("seconds_spent", UNSET)

        seconds_left = d.pop("seconds_left", UNSET)

        progress = cls(
            done=done,
            of=of,
            seconds_spent=seconds_spent,
            seconds_left=seconds_left,
        )

        progress.additional_properties = d
        return progress

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
