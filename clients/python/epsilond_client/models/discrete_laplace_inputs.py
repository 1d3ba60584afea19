from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="DiscreteLaplaceInputs")


@_attrs_define
class DiscreteLaplaceInputs:
    """One release of the discrete Laplace mechanism."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    decay_rate: float
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    sensitivity: int
    """ ℓ1 distance of the integers on neighbouring data, at its largest """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        decay_rate = self.decay_rate

        sensitivity = self.sensitivity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "decay_rate": decay_rate,
                "sensitivity": sensitivity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        decay_rate = d.pop("decay_rate")

        sensitivity = d.pop("sensitivity")

        discrete_laplace_inputs = cls(
            epsilon=epsilon,
            decay_rate=decay_rate,
            sensitivity=sensitivity,
        )

        return discrete_laplace_inputs
