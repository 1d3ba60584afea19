from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="OnePassCompositionalityInputs")


@_attrs_define
class OnePassCompositionalityInputs:
    """An algorithm that uses every record once, in rounds of the same ε₀."""

    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """
    rounds: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        local_epsilon = self.local_epsilon

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "local_epsilon": local_epsilon,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        local_epsilon = d.pop("local_epsilon")

        rounds = d.pop("rounds")

        one_pass_compositionality_inputs = cls(
            local_epsilon=local_epsilon,
            rounds=rounds,
        )

        return one_pass_compositionality_inputs
