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
    from ..models.clones_inputs import ClonesInputs


T = TypeVar("T", bound="EvaluateFeldmanMcmillanTalwar2023Lemma35")


@_attrs_define
class EvaluateFeldmanMcmillanTalwar2023Lemma35:
    """Evaluate the formula of feldman-mcmillan-talwar-2023.lemma-3.5."""

    inputs: ClonesInputs
    """ Reports that are ε₀-indistinguishable, and the δ at which the shuffled ε is asked for. """
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
        from ..models.clones_inputs import ClonesInputs

        d = dict(src_dict)
        inputs = ClonesInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_feldman_mcmillan_talwar_2023_lemma_35 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_feldman_mcmillan_talwar_2023_lemma_35
