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
    from ..models.approximate_clones_inputs import ApproximateClonesInputs


T = TypeVar("T", bound="EvaluateEpsilondApproximateClones")


@_attrs_define
class EvaluateEpsilondApproximateClones:
    """Evaluate the formula of epsilond.approximate-clones."""

    inputs: ApproximateClonesInputs
    """ Reports that are (ε₀, δ₀), and the ε at which what δ₀ adds is asked for. """
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
        from ..models.approximate_clones_inputs import ApproximateClonesInputs

        d = dict(src_dict)
        inputs = ApproximateClonesInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_epsilond_approximate_clones = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_epsilond_approximate_clones
