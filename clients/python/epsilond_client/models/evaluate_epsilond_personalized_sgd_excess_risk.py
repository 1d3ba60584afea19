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
    from ..models.drawn_inputs import DrawnInputs


T = TypeVar("T", bound="EvaluateEpsilondPersonalizedSgdExcessRisk")


@_attrs_define
class EvaluateEpsilondPersonalizedSgdExcessRisk:
    """Evaluate the formula of epsilond.personalized-sgd-excess-risk."""

    inputs: DrawnInputs
    """ Clients drawn as `sampling` says, at a finite α. """
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
        from ..models.drawn_inputs import DrawnInputs

        d = dict(src_dict)
        inputs = DrawnInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_epsilond_personalized_sgd_excess_risk = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_epsilond_personalized_sgd_excess_risk
