from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ObservedInputs")


@_attrs_define
class ObservedInputs:
    """What every client's messages guarantee each of its records."""

    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        local_epsilon = self.local_epsilon

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "local_epsilon": local_epsilon,
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
        local_epsilon = d.pop("local_epsilon")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        observed_inputs = cls(
            local_epsilon=local_epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        return observed_inputs
