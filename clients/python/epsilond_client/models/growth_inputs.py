from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GrowthInputs")


@_attrs_define
class GrowthInputs:
    """One client of n records whose gradients are at most ρ times the mean one."""

    growth_ratio: float
    """ largest norm of a record's gradient over that of its client's mean one """
    samples_per_client: int
    """ records of one client """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    dimension: int
    """ coordinates of the model """

    def to_dict(self) -> dict[str, Any]:
        growth_ratio = self.growth_ratio

        samples_per_client = self.samples_per_client

        quantization_levels = self.quantization_levels

        dimension = self.dimension

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "growth_ratio": growth_ratio,
                "samples_per_client": samples_per_client,
                "quantization_levels": quantization_levels,
                "dimension": dimension,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        growth_ratio = d.pop("growth_ratio")

        samples_per_client = d.pop("samples_per_client")

        quantization_levels = d.pop("quantization_levels")

        dimension = d.pop("dimension")

        growth_inputs = cls(
            growth_ratio=growth_ratio,
            samples_per_client=samples_per_client,
            quantization_levels=quantization_levels,
            dimension=dimension,
        )

        return growth_inputs
