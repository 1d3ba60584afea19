from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdaptiveClippingAnswer")


@_attrs_define
class AdaptiveClippingAnswer:
    """How the noise of a round is split between the updates and their clipped bits (Andrew et al. 2021, Theorem 1).

    Attributes:
        count_std (float): standard deviation of the noise on the sum of the bits, each −½ or ½
        noise_std_of_share (float): count_std/M: of the share of updates that were not clipped
        whole_noise_multiplier (float): z of the round as one Gaussian mechanism, which is certified
    """

    count_std: float
    noise_std_of_share: float
    whole_noise_multiplier: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        count_std = self.count_std

        noise_std_of_share = self.noise_std_of_share

        whole_noise_multiplier = self.whole_noise_multiplier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "count_std": count_std,
                "noise_std_of_share": noise_std_of_share,
                "whole_noise_multiplier": whole_noise_multiplier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        count_std = d.pop("count_std")

        noise_std_of_share = d.pop("noise_std_of_share")

        whole_noise_multiplier = d.pop("whole_noise_multiplier")

        adaptive_clipping_answer = cls(
            count_std=count_std,
            noise_std_of_share=noise_std_of_share,
            whole_noise_multiplier=whole_noise_multiplier,
        )

        adaptive_clipping_answer.additional_properties = d
        return adaptive_clipping_answer

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
