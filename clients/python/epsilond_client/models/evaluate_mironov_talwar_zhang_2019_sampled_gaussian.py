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
    from ..models.sampled_gaussian_inputs import SampledGaussianInputs


T = TypeVar("T", bound="EvaluateMironovTalwarZhang2019SampledGaussian")


@_attrs_define
class EvaluateMironovTalwarZhang2019SampledGaussian:
    """Evaluate the formula of mironov-talwar-zhang-2019.sampled-gaussian."""

    inputs: SampledGaussianInputs
    """ Poisson-subsampled Gaussian runs, add-or-remove-one, and a Rényi order (fractional ones too). """
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
        from ..models.sampled_gaussian_inputs import SampledGaussianInputs

        d = dict(src_dict)
        inputs = SampledGaussianInputs.from_dict(d.pop("inputs"))

        reading = cast(Literal["printed"] | Unset, d.pop("reading", UNSET))
        if reading != "printed" and not isinstance(reading, Unset):
            raise ValueError(f"reading must match const 'printed', got '{reading}'")

        evaluate_mironov_talwar_zhang_2019_sampled_gaussian = cls(
            inputs=inputs,
            reading=reading,
        )

        return evaluate_mironov_talwar_zhang_2019_sampled_gaussian
