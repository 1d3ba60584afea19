from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CoercivityInputs")


@_attrs_define
class CoercivityInputs:
    """A smooth convex loss at two points."""

    smoothness: float
    """ Lipschitz constant of the gradient """
    bregman_divergence: float
    """ F(x) − F(y) − ⟨∇F(y), x − y⟩ """

    def to_dict(self) -> dict[str, Any]:
        smoothness = self.smoothness

        bregman_divergence = self.bregman_divergence

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "smoothness": smoothness,
                "bregman_divergence": bregman_divergence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        smoothness = d.pop("smoothness")

        bregman_divergence = d.pop("bregman_divergence")

        coercivity_inputs = cls(
            smoothness=smoothness,
            bregman_divergence=bregman_divergence,
        )

        return coercivity_inputs
