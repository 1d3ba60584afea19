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
    from ..models.sampled_noise_inputs import SampledNoiseInputs


T = TypeVar("T", bound="EvaluateBietti51")


@_attrs_define
class EvaluateBietti51:
    """Evaluate the formula of bietti.5.1."""

    inputs: SampledNoiseInputs
    """ Rounds of clients drawn independently at rate q, a target, and the constant to print (12) with. """
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
        from ..models.sampled_noise_inputs import SampledNoiseInputs

        d = dict(src_dict)
        inputs = SampledNoiseInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_bietti_51 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bietti_51
