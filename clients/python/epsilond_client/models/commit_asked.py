from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommitAsked")


@_attrs_define
class CommitAsked:
    """Runs to be committed, after which their outputs may be released. Without `count`, all that are left.

    Attributes:
        count (int | Unset): number of runs
    """

    count: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if count is not UNSET:
            field_dict["count"] = count

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        count = d.pop("count", UNSET)

        commit_asked = cls(
            count=count,
        )

        return commit_asked
