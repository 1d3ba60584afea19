from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.sampled_inputs import SampledInputs


T = TypeVar("T", bound="EvaluateBietti52")


@_attrs_define
class EvaluateBietti52:
    """Evaluate the formula of bietti.5.2."""

    inputs: SampledInputs
    """ Clients drawn independently at rate q, at a finite α. """
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
        from ..models.sampled_inputs import SampledInputs

        d = dict(src_dict)
        inputs = SampledInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_bietti_52 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bietti_52
