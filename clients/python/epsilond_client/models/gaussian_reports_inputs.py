from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GaussianReportsInputs")


@_attrs_define
class GaussianReportsInputs:
    """Shuffled Gaussian reports of one coordinate."""

    clients: int
    """ clients in the federation """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        clients = self.clients

        noise_multiplier = self.noise_multiplier

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "clients": clients,
                "noise_multiplier": noise_multiplier,
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
        clients = d.pop("clients")

        noise_multiplier = d.pop("noise_multiplier")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        gaussian_reports_inputs = cls(
            clients=clients,
            noise_multiplier=noise_multiplier,
            delta=delta,
            log10_delta=log10_delta,
        )

        return gaussian_reports_inputs
