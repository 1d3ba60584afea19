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
    from ..models.cyclic import Cyclic


T = TypeVar("T", bound="EvaluateBokSuAltschuler2024NoisyCgdStronglyConvex")


@_attrs_define
class EvaluateBokSuAltschuler2024NoisyCgdStronglyConvex:
    """Evaluate the formula of bok-su-altschuler-2024.noisy-cgd-strongly-convex."""

    inputs: Cyclic
    """ X ← X − η(mean gradient of batch k mod l + Z), `rounds` passes over l fixed disjoint batches of b records.
    """
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
        from ..models.cyclic import Cyclic

        d = dict(src_dict)
        inputs = Cyclic.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_bok_su_altschuler_2024_noisy_cgd_strongly_convex = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bok_su_altschuler_2024_noisy_cgd_strongly_convex
