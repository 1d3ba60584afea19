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
    from ..models.privacy_cost_inputs import PrivacyCostInputs


T = TypeVar("T", bound="EvaluateBietti45Equation9")


@_attrs_define
class EvaluateBietti45Equation9:
    """Evaluate the formula of bietti.4.5.equation-9."""

    inputs: PrivacyCostInputs
    """ (9): the bound at the noise of a target. Absent `noise_constant`: the least that does at this target. """
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
        from ..models.privacy_cost_inputs import PrivacyCostInputs

        d = dict(src_dict)
        inputs = PrivacyCostInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_bietti_45_equation_9 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bietti_45_equation_9
