from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.full_batch_in_ball import FullBatchInBall


T = TypeVar("T", bound="EvaluateBokSuAltschuler2024NoisyGdProjected")


@_attrs_define
class EvaluateBokSuAltschuler2024NoisyGdProjected:
    """Evaluate the formula of bok-su-altschuler-2024.noisy-gd-projected."""

    inputs: FullBatchInBall
    """ The same, projected onto a convex set of the given diameter; convex losses, c = 1. """
    reading: Literal["printed"] | Unset = "printed"
    """ the formula as printed, or with its errata corrected """

    def to_dict(self) -> dict[str, Any]:
        inputs = self.inputs.to_dict()

        reading = self.reading

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "inputs": inputs,
            }
        )
        if reading is not UNSET:
            field_dict["reading"] = reading

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.full_batch_in_ball import FullBatchInBall

        d = dict(src_dict)
        inputs = FullBatchInBall.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_bok_su_altschuler_2024_noisy_gd_projected = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bok_su_altschuler_2024_noisy_gd_projected
