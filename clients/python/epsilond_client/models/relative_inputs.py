from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RelativeInputs")


@_attrs_define
class RelativeInputs:
    """A grid, and how far the unit update moves."""

    dimension: int
    """ coordinates of the model """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    relative_movement: float
    """ ℓ2 distance of the unit updates on neighbouring data, as equation (6) has it """

    def to_dict(self) -> dict[str, Any]:
        dimension = self.dimension

        quantization_levels = self.quantization_levels

        relative_movement = self.relative_movement

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "dimension": dimension,
                "quantization_levels": quantization_levels,
                "relative_movement": relative_movement,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        relative_movement = d.pop("relative_movement")

        relative_inputs = cls(
            dimension=dimension,
            quantization_levels=quantization_levels,
            relative_movement=relative_movement,
        )

        return relative_inputs
