from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="LikelyUpdateInputs")


@_attrs_define
class LikelyUpdateInputs:
    """The same, and how likely the rounding may break the bounds."""

    dimension: int
    """ coordinates of the model """
    quantization_levels: int
    """ grid steps per unit: coordinates in [−1, 1] are rounded to multiples of 1/s """
    update_l1: float
    """ ℓ1 distance of the unit updates on neighbouring data """
    update_l2: float
    """ ℓ2 distance of the unit updates on neighbouring data """
    update_linf: float
    """ most that one coordinate of the unit update differs """
    failure_delta: float
    """ probability, over the rounding, that the values move further than said """

    def to_dict(self) -> dict[str, Any]:
        dimension = self.dimension

        quantization_levels = self.quantization_levels

        update_l1 = self.update_l1

        update_l2 = self.update_l2

        update_linf = self.update_linf

        failure_delta = self.failure_delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "dimension": dimension,
                "quantization_levels": quantization_levels,
                "update_l1": update_l1,
                "update_l2": update_l2,
                "update_linf": update_linf,
                "failure_delta": failure_delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        dimension = d.pop("dimension")

        quantization_levels = d.pop("quantization_levels")

        update_l1 = d.pop("update_l1")

        update_l2 = d.pop("update_l2")

        update_linf = d.pop("update_linf")

        failure_delta = d.pop("failure_delta")

        likely_update_inputs = cls(
            dimension=dimension,
            quantization_levels=quantization_levels,
            update_l1=update_l1,
            update_l2=update_l2,
            update_linf=update_linf,
            failure_delta=failure_delta,
        )

        return likely_update_inputs
