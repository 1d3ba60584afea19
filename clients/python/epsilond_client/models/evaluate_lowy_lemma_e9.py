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
    from ..models.recursion_inputs import RecursionInputs


T = TypeVar("T", bound="EvaluateLowyLemmaE9")


@_attrs_define
class EvaluateLowyLemmaE9:
    """Evaluate the formula of lowy.lemma-e.9."""

    inputs: RecursionInputs
    """ r_{t+1} ≤ (1 − aη) r_t − bη s_t + cη² for t = 0, …, T − 1, at every η ≤ 1/g. """
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
        from ..models.recursion_inputs import RecursionInputs

        d = dict(src_dict)
        inputs = RecursionInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_lowy_lemma_e9 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_lemma_e9
