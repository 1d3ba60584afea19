from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.run_choice import RunChoice


T = TypeVar("T", bound="Recommendation")


@_attrs_define
class Recommendation:
    """The recommended entry: its remaining share is the smallest, or hardly larger with less trust or fewer rounds.

    Attributes:
        why (str): why this entry is recommended, in words; without an entry, why none is
        entry (str | Unset): name of the recommended entry. Absent if no entry keeps to the limits and is shown to
            improve on the initial model
        choices (list[RunChoice] | Unset): runs with other numbers of rounds, and the recommended one. Absent unless the
            algorithm chose the number of rounds
    """

    why: str
    entry: str | Unset = UNSET
    choices: list[RunChoice] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        why = self.why

        entry = self.entry

        choices: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.choices, Unset):
            choices = []
            for choices_item_data in self.choices:
                choices_item = choices_item_data.to_dict()
                choices.append(choices_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "why": why,
            }
        )
        if entry is not UNSET:
            field_dict["entry"] = entry
        if choices is not UNSET:
            field_dict["choices"] = choices

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.run_choice import RunChoice

        d = dict(src_dict)
        why = d.pop("why")

        entry = d.pop("entry", UNSET)

        _choices = d.pop("choices", UNSET)
        choices: list[RunChoice] | Unset = UNSET
        if _choices is not UNSET:
            choices = []
            for choices_item_data in _choices:
                choices_item = RunChoice.from_dict(choices_item_data)

                choices.append(choices_item)

        recommendation = cls(
            why=why,
            entry=entry,
            choices=choices,
        )

        recommendation.additional_properties = d
        return recommendation

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
