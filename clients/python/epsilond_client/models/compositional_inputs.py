from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="CompositionalInputs")


@_attrs_define
class CompositionalInputs:
    """A sequence of reports of one client, and the ε₀ that all of them together have."""

    local_epsilons: list[float]
    """ ε₀ of each round's report """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """

    def to_dict(self) -> dict[str, Any]:
        local_epsilons = self.local_epsilons

        local_epsilon = self.local_epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "local_epsilons": local_epsilons,
                "local_epsilon": local_epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        local_epsilons = cast(list[float], d.pop("local_epsilons"))

        local_epsilon = d.pop("local_epsilon")

        compositional_inputs = cls(
            local_epsilons=local_epsilons,
            local_epsilon=local_epsilon,
        )

        return compositional_inputs
