from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OptimalInputs")


@_attrs_define
class OptimalInputs:
    """Equal (ε, δ) mechanisms, and which point of the optimal curve to give."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ), 0 for a pure guarantee """
    runs: int
    """ how often the mechanism is run """
    index: int | Unset = 0
    """ by how many pairs ε is lowered: ε_i = (k − 2i) ε """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        delta = self.delta

        runs = self.runs

        index = self.index

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "runs": runs,
            }
        )
        if index is not UNSET:
            field_dict["index"] = index

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        runs = d.pop("runs")

        index = d.pop("index", UNSET)

        optimal_inputs = cls(
            epsilon=epsilon,
            delta=delta,
            runs=runs,
            index=index,
        )

        return optimal_inputs
