from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.rank_by import RankBy

if TYPE_CHECKING:
    from ..models.plan_entry import PlanEntry
    from ..models.plan_group import PlanGroup
    from ..models.recommendation import Recommendation
    from ..models.trust_price import TrustPrice


T = TypeVar("T", bound="PlanAnswer")


@_attrs_define
class PlanAnswer:
    """Every algorithm as an answer to a plan: rankings of comparable entries, and a recommendation.

    In `entries`, those that apply are first, group by group, with the ranked ones first. Undecided entries follow.
    Entries that do not apply are last.

        Attributes:
            rank_by (RankBy):
            recommended (Recommendation): The recommended entry: its remaining share is the smallest, or hardly larger with
                less trust or fewer rounds.
            trusts (list[TrustPrice]): best entry under each kind of trust that the plan accepts, the least trust first
            groups (list[PlanGroup]):
            entries (list[PlanEntry]):
            engine_version (str):
    """

    rank_by: RankBy
    recommended: Recommendation
    trusts: list[TrustPrice]
    groups: list[PlanGroup]
    entries: list[PlanEntry]
    engine_version: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rank_by = self.rank_by.value

        recommended = self.recommended.to_dict()

        trusts = []
        for trusts_item_data in self.trusts:
            trusts_item = trusts_item_data.to_dict()
            trusts.append(trusts_item)

        groups = []
        for groups_item_data in self.groups:
            groups_item = groups_item_data.to_dict()
            groups.append(groups_item)

        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        engine_version = self.engine_version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rank_by": rank_by,
                "recommended": recommended,
                "trusts": trusts,
                "groups": groups,
                "entries": entries,
                "engine_version": engine_version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_entry import PlanEntry
        from ..models.plan_group import PlanGroup
        from ..models.recommendation import Recommendation
        from ..models.trust_price import TrustPrice

        d = dict(src_dict)
        rank_by = RankBy(d.pop("rank_by"))

        recommended = Recommendation.from_dict(d.pop("recommended"))

        trusts = []
        _trusts = d.pop("trusts")
        for trusts_item_data in _trusts:
            trusts_item = TrustPrice.from_dict(trusts_item_data)

            trusts.append(trusts_item)

        groups = []
        _groups = d.pop("groups")
        for groups_item_data in _groups:
            groups_item = PlanGroup.from_dict(groups_item_data)

            groups.append(groups_item)

        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = PlanEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        engine_version = d.pop("engine_version")

        plan_answer = cls(
            rank_by=rank_by,
            recommended=recommended,
            trusts=trusts,
            groups=groups,
            entries=entries,
            engine_version=engine_version,
        )

        plan_answer.additional_properties = d
        return plan_answer

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
