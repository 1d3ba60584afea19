from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="MixtureInputs")


@_attrs_define
class MixtureInputs:
    """An ε-indistinguishable pair, mixed with what both share."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        rate = self.rate

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "rate": rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        rate = d.pop("rate")

        mixture_inputs = cls(
            epsilon=epsilon,
            rate=rate,
        )

        return mixture_inputs
