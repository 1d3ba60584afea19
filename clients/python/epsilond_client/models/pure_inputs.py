from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PureInputs")


@_attrs_define
class PureInputs:
    """A pure guarantee, run `times` over."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    times: int | Unset = 1
    """ how often the mechanism is run """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        times = self.times

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
            }
        )
        if times is not UNSET:
            field_dict["times"] = times

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        times = d.pop("times", UNSET)

        pure_inputs = cls(
            epsilon=epsilon,
            times=times,
        )

        return pure_inputs
