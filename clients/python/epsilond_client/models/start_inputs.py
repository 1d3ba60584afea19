from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="StartInputs")


@_attrs_define
class StartInputs:
    """What is known of the loss, and how far the start is from a minimiser. `lipschitz`, or both of the others."""

    initial_distance: float
    """ bound on the distance from the start to a minimiser """
    lipschitz: float | Unset = UNSET
    """ bound on the ℓ2 norm of one record's gradient """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """
    smoothness: float | Unset = UNSET
    """ Lipschitz constant of the gradient """
    minimiser_gradient_norm: float | Unset = UNSET
    """ bound on the norm of the gradient at the minimiser; 0 where it is inside the domain, absent: unknown """

    def to_dict(self) -> dict[str, Any]:
        initial_distance = self.initial_distance

        lipschitz = self.lipschitz

        strong_convexity = self.strong_convexity

        smoothness = self.smoothness

        minimiser_gradient_norm = self.minimiser_gradient_norm

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "initial_distance": initial_distance,
            }
        )
        if lipschitz is not UNSET:
            field_dict["lipschitz"] = lipschitz
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity
        if smoothness is not UNSET:
            field_dict["smoothness"] = smoothness
        if minimiser_gradient_norm is not UNSET:
            field_dict["minimiser_gradient_norm"] = minimiser_gradient_norm

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        initial_distance = d.pop("initial_distance")

        lipschitz = d.pop("lipschitz", UNSET)

        strong_convexity = d.pop("strong_convexity", UNSET)

        smoothness = d.pop("smoothness", UNSET)

        minimiser_gradient_norm = d.pop("minimiser_gradient_norm", UNSET)

        start_inputs = cls(
            initial_distance=initial_distance,
            lipschitz=lipschitz,
            strong_convexity=strong_convexity,
            smoothness=smoothness,
            minimiser_gradient_norm=minimiser_gradient_norm,
        )

        return start_inputs
