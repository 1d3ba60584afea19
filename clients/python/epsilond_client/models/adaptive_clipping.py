from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="AdaptiveClipping")


@_attrs_define
class AdaptiveClipping:
    """Clipping by Andrew et al. 2021: how many updates were not clipped is released with noise in every round.

    Each participant adds its bit, 1 where its update was not clipped, shifted to −½ or ½, and the share is read as
    ½ + (noisy sum)/M with the M of the request. A twentieth of M is their choice of `count_std`.

        Attributes:
            count_std (float): standard deviation of the noise on the sum of the clipped bits of a round, in multiples of a
                bit's range, which is 1: from −½ to ½
    """

    count_std: float

    def to_dict(self) -> dict[str, Any]:
        count_std = self.count_std

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count_std": count_std,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        count_std = d.pop("count_std")

        adaptive_clipping = cls(
            count_std=count_std,
        )

        return adaptive_clipping
