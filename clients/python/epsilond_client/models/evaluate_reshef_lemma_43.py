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
    from ..models.sum_inputs import SumInputs


T = TypeVar("T", bound="EvaluateReshefLemma43")


@_attrs_define
class EvaluateReshefLemma43:
    """Evaluate the formula of reshef.lemma-4.3."""

    inputs: SumInputs
    """ The same over t rounds: σ and ξ are then σ̃ and ξ̃ of s_t. """
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
        from ..models.sum_inputs import SumInputs

        d = dict(src_dict)
        inputs = SumInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_reshef_lemma_43 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_reshef_lemma_43
