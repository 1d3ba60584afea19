from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MuInputs")


@_attrs_define
class MuInputs:
    """ρ, and the δ at which ε is asked for. Give one of delta and log10_delta."""

    gaussian_dp_mu: float
    """ parameter of Gaussian differential privacy, 0 for nothing """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        gaussian_dp_mu = self.gaussian_dp_mu

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "gaussian_dp_mu": gaussian_dp_mu,
            }
        )
        if delta is not UNSET:
            field_dict["delta"] = delta
        if log10_delta is not UNSET:
            field_dict["log10_delta"] = log10_delta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        mu_inputs = cls(
            gaussian_dp_mu=gaussian_dp_mu,
            delta=delta,
            log10_delta=log10_delta,
        )

        return mu_inputs
