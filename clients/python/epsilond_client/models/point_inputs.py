from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PointInputs")


@_attrs_define
class PointInputs:
    """ρ, and the ε at which δ is asked for."""

    gaussian_dp_mu: float
    """ parameter of Gaussian differential privacy, √(2ρ) of zCDP's ρ; never the latter """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), 0 allowed """

    def to_dict(self) -> dict[str, Any]:
        gaussian_dp_mu = self.gaussian_dp_mu

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "gaussian_dp_mu": gaussian_dp_mu,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        gaussian_dp_mu = d.pop("gaussian_dp_mu")

        epsilon = d.pop("epsilon")

        point_inputs = cls(
            gaussian_dp_mu=gaussian_dp_mu,
            epsilon=epsilon,
        )

        return point_inputs
