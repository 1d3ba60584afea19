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
    from ..models.local_limit_inputs import LocalLimitInputs


T = TypeVar("T", bound="EvaluateBietti45LocalLimit")


@_attrs_define
class EvaluateBietti45LocalLimit:
    """Evaluate the formula of bietti.4.5.local-limit."""

    inputs: LocalLimitInputs
    """ α = 0, where every client has its own optimum: Σ‖θ_i*‖²/N = `optimum_norm`² + `optimum_spread`². """
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
        from ..models.local_limit_inputs import LocalLimitInputs

        d = dict(src_dict)
        inputs = LocalLimitInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_bietti_45_local_limit = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_bietti_45_local_limit
