from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ConcentratedInputs")


@_attrs_define
class ConcentratedInputs:
    """ρ-zCDP, and the ε at which its δ is asked for."""

    rho: float
    """ parameter of zero-concentrated privacy """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), 0 allowed """

    def to_dict(self) -> dict[str, Any]:
        rho = self.rho

        epsilon = self.epsilon

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "rho": rho,
                "epsilon": epsilon,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rho = d.pop("rho")

        epsilon = d.pop("epsilon")

        concentrated_inputs = cls(
            rho=rho,
            epsilon=epsilon,
        )

        return concentrated_inputs
