from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PersonalizedConstants")


@_attrs_define
class PersonalizedConstants:
    """What is true of the problem by construction, over all models and all possible records; inf if there is none."""

    lipschitz: float
    smoothness: float
    shared_gradient_std: float
    local_gradient_std: float
    shared_gradient_norm: float
    optimum_norm: float
    optimum_spread: float
    optimum_gap: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lipschitz = self.lipschitz

        smoothness = self.smoothness

        shared_gradient_std = self.shared_gradient_std

        local_gradient_std = self.local_gradient_std

        shared_gradient_norm = self.shared_gradient_norm

        optimum_norm = self.optimum_norm

        optimum_spread = self.optimum_spread

        optimum_gap = self.optimum_gap

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "shared_gradient_std": shared_gradient_std,
                "local_gradient_std": local_gradient_std,
                "shared_gradient_norm": shared_gradient_norm,
                "optimum_norm": optimum_norm,
                "optimum_spread": optimum_spread,
            }
        )
        if optimum_gap is not UNSET:
            field_dict["optimum_gap"] = optimum_gap

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        shared_gradient_std = d.pop("shared_gradient_std")

        local_gradient_std = d.pop("local_gradient_std")

        shared_gradient_norm = d.pop("shared_gradient_norm")

        optimum_norm = d.pop("optimum_norm")

        optimum_spread = d.pop("optimum_spread")

        optimum_gap = d.pop("optimum_gap", UNSET)

        personalized_constants = cls(
            lipschitz=lipschitz,
            smoothness=smoothness,
            shared_gradient_std=shared_gradient_std,
            local_gradient_std=local_gradient_std,
            shared_gradient_norm=shared_gradient_norm,
            optimum_norm=optimum_norm,
            optimum_spread=optimum_spread,
            optimum_gap=optimum_gap,
        )

        personalized_constants.additional_properties = d
        return personalized_constants

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
