from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SampledGaussianInputs")


@_attrs_define
class SampledGaussianInputs:
    """Poisson-subsampled Gaussian runs, add-or-remove-one, and a Rényi order (fractional ones too)."""

    order: float
    """ order of a Rényi divergence """
    rate: float
    """ probability that a given record, or client where clients are drawn, is in a batch """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    times: int | Unset = 1
    """ how often the mechanism is run """

    def to_dict(self) -> dict[str, Any]:
        order = self.order

        rate = self.rate

        noise_multiplier = self.noise_multiplier

        times = self.times

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "order": order,
                "rate": rate,
                "noise_multiplier": noise_multiplier,
            }
        )
        if times is not UNSET:
            field_dict["times"] = times

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        order = d.pop("order")

        rate = d.pop("rate")

        noise_multiplier = d.pop("noise_multiplier")

        times = d.pop("times", UNSET)

        sampled_gaussian_inputs = cls(
            order=order,
            rate=rate,
            noise_multiplier=noise_multiplier,
            times=times,
        )

        return sampled_gaussian_inputs
