from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.participating_group import ParticipatingGroup


T = TypeVar("T", bound="Participation")


@_attrs_define
class Participation:
    """The clients that take part in each round: drawn uniformly, or in groups.

    No client reports more often than `most_participations`. If it is absent, the limit is the number of rounds T or,
    with groups, the most reports of any group.

        Attributes:
            kind (str | Unset): uniform: in each round participants are drawn uniformly from all clients. counts: each group
                states in how many rounds it takes part. pattern: each group states in which rounds
            most_participations (int | Unset): largest number of rounds in which one client may take part. Absent: the
                number of rounds; with groups, the largest number of any group
            groups (list[ParticipatingGroup] | Unset): groups of clients that take part equally, for the kinds `counts` and
                `pattern`. Absent for `uniform`
    """

    kind: str | Unset = UNSET
    most_participations: int | Unset = UNSET
    groups: list[ParticipatingGroup] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        most_participations = self.most_participations

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
        if most_participations is not UNSET:
            field_dict["most_participations"] = most_participations
        if groups is not UNSET:
            field_dict["groups"] = groups

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.participating_group import ParticipatingGroup

        d = dict(src_dict)
        kind = d.pop("kind", UNSET)

        most_participations = d.pop("most_participations", UNSET)

        _groups = d.pop("groups", UNSET)
        groups: list[ParticipatingGroup] | Unset = UNSET
        if _groups is not UNSET:
            groups = []
            for groups_item_data in _groups:
                groups_item = ParticipatingGroup.from_dict(groups_item_data)

                groups.append(groups_item)

        participation = cls(
            kind=kind,
            most_participations=most_participations,
            groups=groups,
        )

        return participation
