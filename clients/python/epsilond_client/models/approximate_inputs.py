from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ApproximateInputs")


@_attrs_define
class ApproximateInputs:
    """An (ε, δ) guarantee, and the ε' at which its δ is asked for."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ), 0 for a pure guarantee """
    at_epsilon: float
    """ where δ is asked for """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        at_epsilon = self.at_epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "at_epsilon": at_epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        at_epsilon = d.pop("at_epsilon")

        approximate_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            at_epsilon=at_epsilon,
        )

        return approximate_inputs
