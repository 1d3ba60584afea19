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
    from ..models.one_pass_compositionality_inputs import OnePassCompositionalityInputs


T = TypeVar("T", bound="EvaluateLowyDefinition4OnePass")


@_attrs_define
class EvaluateLowyDefinition4OnePass:
    """Evaluate the formula of lowy.definition-4.one-pass."""

    inputs: OnePassCompositionalityInputs
    """ An algorithm that uses every record once, in rounds of the same ε₀. """
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
        from ..models.one_pass_compositionality_inputs import (
            OnePassCompositionalityInputs,
        )

        d = dict(src_dict)
        inputs = OnePassCompositionalityInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_lowy_definition_4_one_pass = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_definition_4_one_pass
