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
    from ..models.point_inputs import PointInputs


T = TypeVar("T", bound="EvaluateDongRothSu2022Corollary213")


@_attrs_define
class EvaluateDongRothSu2022Corollary213:
    """Evaluate the formula of dong-roth-su-2022.corollary-2-13."""

    inputs: PointInputs
    """ ρ, and the ε at which δ is asked for. """
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
        from ..models.point_inputs import PointInputs

        d = dict(src_dict)
        inputs = PointInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_dong_roth_su_2022_corollary_213 = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_dong_roth_su_2022_corollary_213
