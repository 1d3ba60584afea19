from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PrintedInputs")


@_attrs_define
class PrintedInputs:
    """ε, and how far the integers on neighbouring data are apart."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    dimension: int
    """ coordinates of the model """
    l1_sensitivity: float
    """ ℓ1 distance of the values on neighbouring data """
    linf_sensitivity: float
    """ most that one coordinate differs between them """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        dimension = self.dimension

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "dimension": dimension,
                "l1_sensitivity": l1_sensitivity,
                "linf_sensitivity": linf_sensitivity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        dimension = d.pop("dimension")

        l1_sensitivity = d.pop("l1_sensitivity")

        linf_sensitivity = d.pop("linf_sensitivity")

        printed_inputs = cls(
            epsilon=epsilon,
            dimension=dimension,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
        )

        return printed_inputs
