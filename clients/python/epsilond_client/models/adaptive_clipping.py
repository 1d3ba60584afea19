from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AdaptiveClipping")


@_attrs_define
class AdaptiveClipping:
    """Adaptive clipping by Andrew et al. 2021: every round releases a noisy share of the updates that were not clipped.
    Each participant sends a bit, ½ if its update was not clipped and −½ otherwise.

        Attributes:
            count_std (float): Depends on the object:

                - standard deviation of the noise on the sum of the bits of a round. Each participant sends one bit, −½ if its
                update was clipped and ½ otherwise
                - standard deviation of the noise on the sum of the participants' bits, each −½ or ½
            noise_std_of_share (float | Unset): standard deviation of the noise in the released share of updates that were
                not clipped: count_std divided by participants
            whole_noise_multiplier (float | Unset): noise multiplier of a round as a whole, with both noisy sums as one
                Gaussian mechanism. The guarantee is certified for it
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
