from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.run_participation_kind import (
    RunParticipationKind,
    check_run_participation_kind,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.reporting_group import ReportingGroup


T = TypeVar("T", bound="RunParticipation")


@_attrs_define
class RunParticipation:
    """Uniform, or by a pattern of groups; the clients of a problem are those of the groups in their order."""

    kind: RunParticipationKind | Unset = UNSET
    groups: list[ReportingGroup] | Unset = UNSET
    """ clients that report in the same rounds, as counts (kind `pattern`) """

    def to_dict(self) -> dict[str, Any]:
        kind: str | Unset = UNSET
        if not isinstance(self.kind, Unset):
            kind = self.kind

        groups: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.groups, Unset):
            groups = []
            for groups_item_data in self.groups:
                groups_item = groups_item_data.to_dict()
                groups.append(groups_item)

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if kind is not UNSET:
            field_dict["kind"] = kind
        if groups is not UNSET:
            field_dict["groups"] = groups

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.reporting_group import ReportingGroup

        d = dict(src_dict)
        _kind = d.pop("kind", UNSET)
        kind: RunParticipationKind | Unset
        if isinstance(_kind, Unset):
            kind = UNSET
        else:
            kind = check_run_participation_kind(_kind)

        _groups = d.pop("groups", UNSET)
        groups: list[ReportingGroup] | Unset = UNSET
        if _groups is not UNSET:
            groups = []
            for groups_item_data in _groups:
                groups_item = ReportingGroup.from_dict(groups_item_data)

                groups.append(groups_item)

        run_participation = cls(
            kind=kind,
            groups=groups,
        )

        return run_participation
