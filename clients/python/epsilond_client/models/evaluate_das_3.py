from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.growth_inputs import GrowthInputs


T = TypeVar("T", bound="EvaluateDas3")


@_attrs_define
class EvaluateDas3:
    """Evaluate the formula of das.3."""

    inputs: GrowthInputs
    """ One client of n records whose gradients are at most ρ times the mean one. """
    reading: Reading | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        inputs = self.inputs.to_dict()

        reading: str | Unset = UNSET
        if not isinstance(self.reading, Unset):
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
        from ..models.growth_inputs import GrowthInputs

        d = dict(src_dict)
        inputs = GrowthInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_das_3 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_das_3
