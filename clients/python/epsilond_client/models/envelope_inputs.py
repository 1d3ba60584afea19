from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="EnvelopeInputs")


@_attrs_define
class EnvelopeInputs:
    """A loss and the smoothness of its envelope."""

    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    envelope_smoothness: float
    """ smoothness of the Moreau envelope that stands in for the loss """
    strong_convexity: float | Unset = 0.0
    """ strong convexity, 0 if only convex """

    def to_dict(self) -> dict[str, Any]:
        lipschitz = self.lipschitz

        envelope_smoothness = self.envelope_smoothness

        strong_convexity = self.strong_convexity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "lipschitz": lipschitz,
                "envelope_smoothness": envelope_smoothness,
            }
        )
        if strong_convexity is not UNSET:
            field_dict["strong_convexity"] = strong_convexity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lipschitz = d.pop("lipschitz")

        envelope_smoothness = d.pop("envelope_smoothness")

        strong_convexity = d.pop("strong_convexity", UNSET)

        envelope_inputs = cls(
            lipschitz=lipschitz,
            envelope_smoothness=envelope_smoothness,
            strong_convexity=strong_convexity,
        )

        return envelope_inputs
