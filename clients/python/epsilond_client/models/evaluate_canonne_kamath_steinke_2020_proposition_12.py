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
    from ..models.renyi_inputs import RenyiInputs


T = TypeVar("T", bound="EvaluateCanonneKamathSteinke2020Proposition12")


@_attrs_define
class EvaluateCanonneKamathSteinke2020Proposition12:
    """Evaluate the formula of canonne-kamath-steinke-2020.proposition-12."""

    inputs: RenyiInputs
    """ Rényi divergences of one mechanism that is run `times` over, and a δ. Give one of delta and log10_delta. """
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
        from ..models.renyi_inputs import RenyiInputs

        d = dict(src_dict)
        inputs = RenyiInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_canonne_kamath_steinke_2020_proposition_12 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_canonne_kamath_steinke_2020_proposition_12
