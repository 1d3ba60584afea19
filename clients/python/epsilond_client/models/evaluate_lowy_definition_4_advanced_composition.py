from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.composed_inputs import ComposedInputs


T = TypeVar("T", bound="EvaluateLowyDefinition4AdvancedComposition")


@_attrs_define
class EvaluateLowyDefinition4AdvancedComposition:
    """Evaluate the formula of lowy.definition-4.advanced-composition."""

    inputs: ComposedInputs
    """ Rounds whose ε₀ in all is taken from advanced composition. Give one of delta and log10_delta: its slack δ'.
    """
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
        from ..models.composed_inputs import ComposedInputs

        d = dict(src_dict)
        inputs = ComposedInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_lowy_definition_4_advanced_composition = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_definition_4_advanced_composition
