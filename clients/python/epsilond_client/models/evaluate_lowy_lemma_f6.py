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
    from ..models.transfer_inputs import TransferInputs


T = TypeVar("T", bound="EvaluateLowyLemmaF6")


@_attrs_define
class EvaluateLowyLemmaF6:
    """Evaluate the formula of lowy.lemma-f.6."""

    inputs: TransferInputs
    """ An (ε, δ) pair of laws, and how far two other laws are from it. """
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
        from ..models.transfer_inputs import TransferInputs

        d = dict(src_dict)
        inputs = TransferInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_lowy_lemma_f6 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_lemma_f6
