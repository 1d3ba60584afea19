from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="GaussianKernel")


@_attrs_define
class GaussianKernel:
    """y ↦ N(y, s²I) on a set of the given diameter."""

    epsilon: float
    """ privacy loss ε ≥ 0, natural logs """
    diameter: float
    """ diameter of the set that the noise is added to """
    noise_std: float
    """ standard deviation per coordinate of the noise a kernel adds """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        diameter = self.diameter

        noise_std = self.noise_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "diameter": diameter,
                "noise_std": noise_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        diameter = d.pop("diameter")

        noise_std = d.pop("noise_std")

        gaussian_kernel = cls(
            epsilon=epsilon,
            diameter=diameter,
            noise_std=noise_std,
        )

        return gaussian_kernel
