from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LawInputs")


@_attrs_define
class LawInputs:
    """One coordinate of noise, a value y, and a shift k."""

    noise_levels: int
    """ largest absolute value of truncated integer noise """
    decay_rate: float
    """ decay of truncated integer noise, 0 if it is uniform """
    value: int | Unset = 0
    """ a value of the noise """
    shift: int | Unset = 1
    """ how far one coordinate moves, in grid steps """

    def to_dict(self) -> dict[str, Any]:
        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        value = self.value

        shift = self.shift

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "noise_levels": noise_levels,
                "decay_rate": decay_rate,
            }
        )
        if value is not UNSET:
            field_dict["value"] = value
        if shift is not UNSET:
            field_dict["shift"] = shift

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        noise_levels = d.pop("noise_levels")

        decay_rate = d.pop("decay_rate")

        value = d.pop("value", UNSET)

        shift = d.pop("shift", UNSET)

        law_inputs = cls(
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            value=value,
            shift=shift,
        )

        return law_inputs
