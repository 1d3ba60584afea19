from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.smooth_inputs import SmoothInputs


T = TypeVar("T", bound="EvaluateLowy21")


@_attrs_define
class EvaluateLowy21:
    """Evaluate the formula of lowy.2.1."""

    inputs: SmoothInputs
    """ A smooth loss. Absent: rounds are as prescribed, participants all clients. Give one of delta and
    log10_delta. """
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
        from ..models.smooth_inputs import SmoothInputs

        d = dict(src_dict)
        inputs = SmoothInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_lowy_21 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_21
