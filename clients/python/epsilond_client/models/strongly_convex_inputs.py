from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="StronglyConvexInputs")


@_attrs_define
class StronglyConvexInputs:
    """A strongly convex problem and an unbiased gradient of mean squared error at most V²."""

    smoothness: float
    """ Lipschitz constant of the gradient """
    strong_convexity: float
    """ strong convexity, 0 if only convex """
    initial_gap: float
    """ bound on the excess risk of the start """
    gradient_variance: float
    """ mean squared error of one round's gradient, at its largest """
    rounds: int
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        initial_gap = self.initial_gap

        gradient_variance = self.gradient_variance

        rounds = self.rounds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
                "initial_gap": initial_gap,
                "gradient_variance": gradient_variance,
                "rounds": rounds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity")

        initial_gap = d.pop("initial_gap")

        gradient_variance = d.pop("gradient_variance")

        rounds = d.pop("rounds")

        strongly_convex_inputs = cls(
            smoothness=smoothness,
            strong_convexity=strong_convexity,
            initial_gap=initial_gap,
            gradient_variance=gradient_variance,
            rounds=rounds,
        )

        return strongly_convex_inputs
