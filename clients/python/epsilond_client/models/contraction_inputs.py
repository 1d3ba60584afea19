from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ContractionInputs")


@_attrs_define
class ContractionInputs:
    """A gradient step on a strongly convex and smooth loss."""

    step_size: float
    """ step size """
    smoothness: float
    """ Lipschitz constant of the gradient """
    strong_convexity: float
    """ strong convexity, 0 if only convex """

    def to_dict(self) -> dict[str, Any]:
        step_size = self.step_size

        smoothness = self.smoothness

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "step_size": step_size,
                "smoothness": smoothness,
                "strong_convexity": strong_convexity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        step_size = d.pop("step_size")

        smoothness = d.pop("smoothness")

        strong_convexity = d.pop("strong_convexity")

        contraction_inputs = cls(
            step_size=step_size,
            smoothness=smoothness,
            strong_convexity=strong_convexity,
        )

        return contraction_inputs
