from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.reading import Reading, check_reading
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.client_inputs import ClientInputs


T = TypeVar("T", bound="EvaluateLowyAppendixG1")


@_attrs_define
class EvaluateLowyAppendixG1:
    """Evaluate the formula of lowy.appendix-g.1."""

    inputs: ClientInputs
    """ A guarantee for one record (or the target for a client), and how many records the client has. """
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
        from ..models.client_inputs import ClientInputs

        d = dict(src_dict)
        inputs = ClientInputs.from_dict(d.pop("inputs"))

        _reading = d.pop("reading", UNSET)
        reading: Reading | Unset
        if isinstance(_reading, Unset):
            reading = UNSET
        else:
            reading = check_reading(_reading)

        evaluate_lowy_appendix_g1 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_lowy_appendix_g1
