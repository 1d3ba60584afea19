from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.variance_term_inputs import VarianceTermInputs


T = TypeVar("T", bound="EvaluateBiettiLemma46")


@_attrs_define
class EvaluateBiettiLemma46:
    """Evaluate the formula of bietti.lemma-4.6."""

    inputs: VarianceTermInputs
    """ Equal clients of one optimum, all in every round; `gradient_std` is one record's, of a batch of
    `batch_size`. """
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
        from ..models.variance_term_inputs import VarianceTermInputs

        d = dict(src_dict)
        inputs = VarianceTermInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_bietti_lemma_46 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bietti_lemma_46
