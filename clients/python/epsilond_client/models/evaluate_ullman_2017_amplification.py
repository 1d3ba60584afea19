from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.subsampled_inputs import SubsampledInputs


T = TypeVar("T", bound="EvaluateUllman2017Amplification")


@_attrs_define
class EvaluateUllman2017Amplification:
    """Evaluate the formula of ullman-2017.amplification."""

    inputs: SubsampledInputs
    """ An (ε, δ) mechanism run on a batch drawn without replacement. """
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
        from ..models.subsampled_inputs import SubsampledInputs

        d = dict(src_dict)
        inputs = SubsampledInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_ullman_2017_amplification = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_ullman_2017_amplification
