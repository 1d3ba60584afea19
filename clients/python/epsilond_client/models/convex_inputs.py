from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ConvexInputs")


@_attrs_define
class ConvexInputs:
    """A convex problem and an unbiased gradient of mean squared error at most V²."""

    smoothness: float
    """ Lipschitz constant of the gradient """
    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    gradient_variance: float
    """ mean squared error of one round's gradient, at its largest """
    rounds: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        smoothness = self.smoothness

        initial_distance = self.initial_distance

        gradient_variance = self.gradient_variance

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "smoothness": smoothness,
                "initial_distance": initial_distance,
                "gradient_variance": gradient_variance,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        smoothness = d.pop("smoothness")

        initial_distance = d.pop("initial_distance")

        gradient_variance = d.pop("gradient_variance")

        rounds = d.pop("rounds")

        convex_inputs = cls(
            smoothness=smoothness,
            initial_distance=initial_distance,
            gradient_variance=gradient_variance,
            rounds=rounds,
        )

        return convex_inputs
