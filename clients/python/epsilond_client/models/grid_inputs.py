from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GridInputs")


@_attrs_define
class GridInputs:
    """A grid of 1/s in d dimensions."""

    dimension: int
    """ coordinates of the model """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """

    def to_dict(self) -> dict[str, Any]:
        dimension = self.dimension

        quantization_levels = self.quantization_levels

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "dimension": dimension,
                "quantization_levels": quantization_levels,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        grid_inputs = cls(
            dimension=dimension,
            quantization_levels=quantization_levels,
        )

        return grid_inputs
