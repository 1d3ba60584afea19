from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SubsampledInputs")


@_attrs_define
class SubsampledInputs:
    """An (ε, δ) mechanism run on a batch drawn without replacement."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ) """
    rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        rate = self.rate

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "rate": rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        rate = d.pop("rate")

        subsampled_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            rate=rate,
        )

        return subsampled_inputs
