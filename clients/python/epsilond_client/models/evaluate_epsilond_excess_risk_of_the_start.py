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
    from ..models.start_inputs import StartInputs


T = TypeVar("T", bound="EvaluateEpsilondExcessRiskOfTheStart")


@_attrs_define
class EvaluateEpsilondExcessRiskOfTheStart:
    """Evaluate the formula of epsilond.excess-risk-of-the-start."""

    inputs: StartInputs
    """ What is known of the loss, and how far the start is from a minimiser. `lipschitz`, or both of the others.
    """
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
        from ..models.start_inputs import StartInputs

        d = dict(src_dict)
        inputs = StartInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_epsilond_excess_risk_of_the_start = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_epsilond_excess_risk_of_the_start
