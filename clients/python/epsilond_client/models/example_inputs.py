from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ExampleInputs")


@_attrs_define
class ExampleInputs:
    """The example of Appendix F.2."""

    compositionality: float
    """ √(Σ(ε₀^r)²)/ε₀ of an algorithm """
    local_epsilon: float
    """ ε of what one client sends, to whoever sees it with its sender """

    def to_dict(self) -> dict[str, Any]:
        compositionality = self.compositionality

        local_epsilon = self.local_epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "compositionality": compositionality,
                "local_epsilon": local_epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        compositionality = d.pop("compositionality")

        local_epsilon = d.pop("local_epsilon")

        example_inputs = cls(
            compositionality=compositionality,
            local_epsilon=local_epsilon,
        )

        return example_inputs
