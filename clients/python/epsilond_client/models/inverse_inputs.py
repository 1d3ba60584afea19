from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="InverseInputs")


@_attrs_define
class InverseInputs:
    """The ε that a run is to have."""

    composed_epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ) """

    def to_dict(self) -> dict[str, Any]:
        composed_epsilon = self.composed_epsilon

        delta = self.delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "composed_epsilon": composed_epsilon,
                "delta": delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        composed_epsilon = d.pop("composed_epsilon")

        delta = d.pop("delta")

        inverse_inputs = cls(
            composed_epsilon=composed_epsilon,
            delta=delta,
        )

        return inverse_inputs
