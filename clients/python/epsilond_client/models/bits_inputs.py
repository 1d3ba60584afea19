from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="BitsInputs")


@_attrs_define
class BitsInputs:
    """A grid and noise on it."""

    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    noise_levels: int
    """ largest absolute value of truncated integer noise """

    def to_dict(self) -> dict[str, Any]:
        quantization_levels = self.quantization_levels

        noise_levels = self.noise_levels

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "quantization_levels": quantization_levels,
                "noise_levels": noise_levels,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        quantization_levels = d.pop("quantization_levels")

        noise_levels = d.pop("noise_levels")

        bits_inputs = cls(
            quantization_levels=quantization_levels,
            noise_levels=noise_levels,
        )

        return bits_inputs
