from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupInputs")


@_attrs_define
class GroupInputs:
    """A guarantee for one record, and how many records shall be protected at once."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    group_size: int
    """ records that may differ at once """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        group_size = self.group_size

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "group_size": group_size,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        group_size = d.pop("group_size")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        group_inputs = cls(
            epsilon=epsilon,
            group_size=group_size,
            delta=delta,
            log10_delta=log10_delta,
        )

        return group_inputs
