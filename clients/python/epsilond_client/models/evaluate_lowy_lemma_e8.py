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
    from ..models.coercivity_inputs import CoercivityInputs


T = TypeVar("T", bound="EvaluateLowyLemmaE8")


@_attrs_define
class EvaluateLowyLemmaE8:
    """Evaluate the formula of lowy.lemma-e.8."""

    inputs: CoercivityInputs
    """ A smooth convex loss at two points. """
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
        from ..models.coercivity_inputs import CoercivityInputs

        d = dict(src_dict)
        inputs = CoercivityInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_lowy_lemma_e8 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_lemma_e8
