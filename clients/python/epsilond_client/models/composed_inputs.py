from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ComposedInputs")


@_attrs_define
class ComposedInputs:
    """Rounds whose ε₀ in all is taken from advanced composition. Give one of delta and log10_delta: its slack δ'."""

    local_epsilons: list[float]
    """ ε₀ of each round's report """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        local_epsilons = self.local_epsilons

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "local_epsilons": local_epsilons,
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
        local_epsilons = cast(list[float], d.pop("local_epsilons"))

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        composed_inputs = cls(
            local_epsilons=local_epsilons,
            delta=delta,
            log10_delta=log10_delta,
        )

        return composed_inputs
