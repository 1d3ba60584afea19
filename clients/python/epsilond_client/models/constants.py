from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Constants")


@_attrs_define
class Constants:
    """What is true of the problem by construction, over all models in the domain and all possible records."""

    lipschitz: float
    smoothness: float
    strong_convexity: float
    diameter: float
    gradient_std: float
    heterogeneity: float
    optimum_norm: float
    optimum_value: float
    optimum_gap: float
    initial_gap: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lipschitz = self.lipschitz

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        diameter = self.diameter

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        optimum_norm = self.optimum_norm

        optimum_value = self.optimum_value

        optimum_gap = self.optimum_gap

        initial_gap = self.initial_gap

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
                "diameter": diameter,
                "gradient_std": gradient_std,
                "heterogeneity": heterogeneity,
                "optimum_norm": optimum_norm,
                "optimum_value": optimum_value,
                "optimum_gap": optimum_gap,
                "initial_gap": initial_gap,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity")

        diameter = d.pop("diameter")

        gradient_std = d.pop("gradient_std")

        heterogeneity = d.pop("heterogeneity")

        optimum_norm = d.pop("optimum_norm")

        optimum_value = d.pop("optimum_value")

        optimum_gap = d.pop("optimum_gap")

        initial_gap = d.pop("initial_gap")

        constants = cls(
            lipschitz=lipschitz,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            diameter=diameter,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            optimum_norm=optimum_norm,
            optimum_value=optimum_value,
            optimum_gap=optimum_gap,
            initial_gap=initial_gap,
        )

        constants.additional_properties = d
        return constants

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
