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
    from ..models.randomizer_inputs import RandomizerInputs


T = TypeVar("T", bound="EvaluateBalleBellGasconNissim2019Lemma53")


@_attrs_define
class EvaluateBalleBellGasconNissim2019Lemma53:
    """Evaluate the formula of balle-bell-gascon-nissim-2019.lemma-5.3."""

    inputs: RandomizerInputs
    """ Any randomizer with finitely many inputs and outcomes. """
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
        from ..models.randomizer_inputs import RandomizerInputs

        d = dict(src_dict)
        inputs = RandomizerInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_balle_bell_gascon_nissim_2019_lemma_53 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_balle_bell_gascon_nissim_2019_lemma_53
