from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PairInputs")


@_attrs_define
class PairInputs:
    """Rényi divergence of two Gaussians."""

    order: float
    """ order of a Rényi divergence """
    distance: float
    """ distance of two means """
    noise_std: float
    """ standard deviation per coordinate of the Gaussian noise added to what is sent """

    def to_dict(self) -> dict[str, Any]:
        order = self.order

        distance = self.distance

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "order": order,
                "distance": distance,
                "noise_std": noise_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        order = d.pop("order")

        distance = d.pop("distance")

        noise_std = d.pop("noise_std")

        pair_inputs = cls(
            order=order,
            distance=distance,
            noise_std=noise_std,
        )

        return pair_inputs
