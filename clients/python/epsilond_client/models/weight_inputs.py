from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="WeightInputs")


@_attrs_define
class WeightInputs:
    """Clients' weights and constants, one of each for every client."""

    weights: list[float]
    """ weight of each client's loss; they sum to 1 """
    lipschitz: list[float]
    """ gradient bound of each client's records """
    smoothness: list[float]
    """ smoothness of each client's losses """
    strong_convexity: list[float]
    """ strong convexity of each client's losses """

    def to_dict(self) -> dict[str, Any]:
        weights = self.weights

        lipschitz = self.lipschitz

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "weights": weights,
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        weights = cast(list[float], d.pop("weights"))

        lipschitz = cast(list[float], d.pop("lipschitz"))

        smoothness = cast(list[float], d.pop("smoothness"))

        strong_convexity = cast(list[float], d.pop("strong_convexity"))

        weight_inputs = cls(
            weights=weights,
            lipschitz=lipschitz,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
        )

        return weight_inputs
