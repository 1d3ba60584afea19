from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.guarantee_kind import GuaranteeKind


T = TypeVar("T", bound="PlanGroup")


@_attrs_define
class PlanGroup:
    """Entries that can be compared, because they have the same kind of guarantee and figures of the same quantity.

    Attributes:
        guarantee (GuaranteeKind): The kind of a guarantee: trust model, protected unit, neighbouring relation and
            adversary.
        compares (str): quantity by which the entries are compared, in words
        ranked (list[str]): names of entries, the best first; algorithm or algorithm (variant)
        unranked (list[str]): names of entries that are not ranked. First are those that exceed a limit or are not shown
            to improve on the initial model, by increasing figure. Those without a figure follow
    """

    guarantee: GuaranteeKind
    compares: str
    ranked: list[str]
    unranked: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        guarantee = self.guarantee.to_dict()

        compares = self.compares

        ranked = self.ranked

        unranked = self.unranked

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "guarantee": guarantee,
                "compares": compares,
                "ranked": ranked,
                "unranked": unranked,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.guarantee_kind import GuaranteeKind

        d = dict(src_dict)
        guarantee = GuaranteeKind.from_dict(d.pop("guarantee"))

        compares = d.pop("compares")

        ranked = cast(list[str], d.pop("ranked"))

        unranked = cast(list[str], d.pop("unranked"))

        plan_group = cls(
            guarantee=guarantee,
            compares=compares,
            ranked=ranked,
            unranked=unranked,
        )

        plan_group.additional_properties = d
        return plan_group

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
