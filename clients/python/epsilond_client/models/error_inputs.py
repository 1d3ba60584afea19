from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ErrorInputs")


@_attrs_define
class ErrorInputs:
    """A unit update on a grid of 1/s, with noise."""

    noise_levels: int
    """ largest absolute value of truncated integer noise """
    decay_rate: float
    """ decay of truncated integer noise, 0 if it is uniform """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    dimension: int | Unset = 1
    """ coordinates of the model """

    def to_dict(self) -> dict[str, Any]:
        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        quantization_levels = self.quantization_levels

        dimension = self.dimension

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "noise_levels": noise_levels,
                "decay_rate": decay_rate,
                "quantization_levels": quantization_levels,
            }
        )
        if dimension is not UNSET:
            field_dict["dimension"] = dimension

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        noise_levels = d.pop("noise_levels")

        decay_rate = d.pop("decay_rate")

        quantization_levels = d.pop("quantization_levels")

        dimension = d.pop("dimension", UNSET)

        error_inputs = cls(
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            quantization_levels=quantization_levels,
            dimension=dimension,
        )

        return error_inputs
