from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="TwoGaussians")


@_attrs_define
class TwoGaussians:
    """Two Gaussians of the same variance."""

    epsilon: float
    """ privacy loss ε ≥ 0, natural logs """
    distance: float
    """ distance of two means """
    noise_std: float
    """ standard deviation per coordinate of the noise a kernel adds """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        distance = self.distance

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "distance": distance,
                "noise_std": noise_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        distance = d.pop("distance")

        noise_std = d.pop("noise_std")

        two_gaussians = cls(
            epsilon=epsilon,
            distance=distance,
            noise_std=noise_std,
        )

        return two_gaussians
