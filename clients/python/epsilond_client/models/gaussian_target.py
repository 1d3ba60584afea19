from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GaussianTarget")


@_attrs_define
class GaussianTarget:
    """A target for one release of the Gaussian mechanism. Give one of delta and log10_delta."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    sensitivity: float
    """ ℓ2 distance of the values on neighbouring data, at its largest """
    delta: float | Unset = UNSET
    """ failure probability δ of (ε, δ) """
    log10_delta: float | Unset = UNSET
    """ base-10 logarithm of δ, for a δ below any double """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        sensitivity = self.sensitivity

        delta = self.delta

        log10_delta = self.log10_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "sensitivity": sensitivity,
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
        epsilon = d.pop("epsilon")

        sensitivity = d.pop("sensitivity")

        delta = d.pop("delta", UNSET)

        log10_delta = d.pop("log10_delta", UNSET)

        gaussian_target = cls(
            epsilon=epsilon,
            sensitivity=sensitivity,
            delta=delta,
            log10_delta=log10_delta,
        )

        return gaussian_target
