from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Observation")


@_attrs_define
class Observation:
    """An observation that contradicts the record of a run.

    Attributes:
        premise (str): id of the condition of the guarantee that does not hold
        message (str): what was observed, in words
        remedy (str): change to the program, or declaration, that would make the condition hold
        count (int): number of times that it was observed; 0 if the number is not disclosed
    """

    premise: str
    message: str
    remedy: str
    count: int

    def to_dict(self) -> dict[str, Any]:
        premise = self.premise

        message = self.message

        remedy = self.remedy

        count = self.count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "premise": premise,
                "message": message,
                "remedy": remedy,
                "count": count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        premise = d.pop("premise")

        message = d.pop("message")

        remedy = d.pop("remedy")

        count = d.pop("count")

        observation = cls(
            premise=premise,
            message=message,
            remedy=remedy,
            count=count,
        )

        return observation
