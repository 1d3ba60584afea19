from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdaptiveClipping")


@_attrs_define
class AdaptiveClipping:
    """Clipping by Andrew et al. 2021: how many updates were not clipped is released with noise in every round.

    Each participant adds its bit, 1 where its update was not clipped, shifted to −½ or ½, and the share is read as
    ½ + (noisy sum)/M with the M of the request. A twentieth of M is their choice of `count_std`.

        Attributes:
            count_std (float): Depends on the object:

                - standard deviation of the noise on the sum of the clipped bits of a round. The unit is a bit's range, which is
                1: from −½ to ½
                - standard deviation of the noise on the sum of the bits, each −½ or ½
            noise_std_of_share (float | Unset): count_std/M: of the share of updates that were not clipped
            whole_noise_multiplier (float | Unset): z of the round as one Gaussian mechanism, which is certified
    """

    count_std: float
    noise_std_of_share: float | Unset = UNSET
    whole_noise_multiplier: float | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        count_std = self.count_std

        noise_std_of_share = self.noise_std_of_share

        whole_noise_multiplier = self.whole_noise_multiplier

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count_std": count_std,
            }
        )
        if noise_std_of_share is not UNSET:
            field_dict["noise_std_of_share"] = noise_std_of_share
        if whole_noise_multiplier is not UNSET:
            field_dict["whole_noise_multiplier"] = whole_noise_multiplier

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        count_std = d.pop("count_std")

        noise_std_of_share = d.pop("noise_std_of_share", UNSET)

        whole_noise_multiplier = d.pop("whole_noise_multiplier", UNSET)

        adaptive_clipping = cls(
            count_std=count_std,
            noise_std_of_share=noise_std_of_share,
            whole_noise_multiplier=whole_noise_multiplier,
        )

        return adaptive_clipping
