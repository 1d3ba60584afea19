from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Progress")


@_attrs_define
class Progress:
    """How far a simulation is."""

    blocks_done: int
    blocks: int
    """ blocks in all; a repetition is never split, so that one of many rounds takes long """
    seconds_left: float | Unset = UNSET
    """ estimate of its own work, without its wait: of the plan at first, then from the blocks measured """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        blocks_done = self.blocks_done

        blocks = self.blocks

        seconds_left = self.seconds_left

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "blocks_done": blocks_done,
                "blocks": blocks,
            }
        )
        if seconds_left is not UNSET:
            field_dict["seconds_left"] = seconds_left

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        blocks_done = d.pop("blocks_done")

        blocks = d.pop("blocks")

        seconds_left = d.pop("seconds_left", UNSET)

        progress = cls(
            blocks_done=blocks_done,
            blocks=blocks,
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
