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
    from ..models.coalition_inputs import CoalitionInputs


T = TypeVar("T", bound="EvaluateEpsilondCoalitionParticipation")


@_attrs_define
class EvaluateEpsilondCoalitionParticipation:
    """Evaluate the formula of epsilond.coalition-participation."""

    inputs: CoalitionInputs
    """ Rounds with Q of N clients each, and where to read the curve: at ε, at δ, or both. Absent k is that
    expected. """
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
        from ..models.coalition_inputs import CoalitionInputs

        d = dict(src_dict)
        inputs = CoalitionInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_epsilond_coalition_participation = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_epsilond_coalition_participation
