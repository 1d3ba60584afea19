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
    from ..models.budget_inputs import BudgetInputs


T = TypeVar("T", bound="EvaluateDasCorollary31Bits")


@_attrs_define
class EvaluateDasCorollary31Bits:
    """Evaluate the formula of das.corollary-3.1-bits."""

    inputs: BudgetInputs
    """ Clients with some records each, on a grid of 1/√d or √d/r. """
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
        from ..models.budget_inputs import BudgetInputs

        d = dict(src_dict)
        inputs = BudgetInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_das_corollary_31_bits = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_das_corollary_31_bits
