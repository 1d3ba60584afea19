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
    from ..models.gaussian_reports_inputs import GaussianReportsInputs


T = TypeVar("T", bound="EvaluateEpsilondGaussianBlanket")


@_attrs_define
class EvaluateEpsilondGaussianBlanket:
    """Evaluate the formula of epsilond.gaussian-blanket."""

    inputs: GaussianReportsInputs
    """ Shuffled Gaussian reports of one coordinate. """
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
        from ..models.gaussian_reports_inputs import GaussianReportsInputs

        d = dict(src_dict)
        inputs = GaussianReportsInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_epsilond_gaussian_blanket = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_epsilond_gaussian_blanket
