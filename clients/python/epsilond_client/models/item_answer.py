from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ItemAnswer")


@_attrs_define
class ItemAnswer:
    """An item of the plan, in runs of its mechanism.

    Attributes:
        name (str):
        planned (int): number of planned runs, for all of which the ledger's guarantee accounts
        reserved (int): number of runs that are reserved and not yet committed
        committed (int): number of committed runs, whose outputs may have been released
        credit (int): number of runs that were returned after other runs of the same reservation were committed, or that
            were voided. They may be reserved again
        job (str | Unset): id of the reservation that paid for this item from a slot; absent if the item is in the plan
            from the opening or an amendment
    """

    name: str
    planned: int
    reserved: int
    committed: int
    credit: int
    job: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        planned = self.planned

        reserved = self.reserved

        committed = self.committed

        credit = self.credit

        job = self.job

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "planned": planned,
                "reserved": reserved,
                "committed": committed,
                "credit": credit,
            }
        )
        if job is not UNSET:
            field_dict["job"] = job

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        planned = d.pop("planned")

        reserved = d.pop("reserved")

        committed = d.pop("committed")

        credit = d.pop("credit")

        job = d.pop("job", UNSET)

        item_answer = cls(
            name=name,
            planned=planned,
            reserved=reserved,
            committed=committed,
            credit=credit,
            job=job,
        )

        item_answer.additional_properties = d
        return item_answer

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
