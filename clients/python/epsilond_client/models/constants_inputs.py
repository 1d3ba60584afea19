from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ConstantsInputs")


@_attrs_define
class ConstantsInputs:
    """What is known of the losses. Absent spreads are at their largest: G and L."""

    lipschitz: float
    """ bound on the ℓ2 norm of one record's gradient """
    smoothness: float
    """ Lipschitz constant of the gradient, 0 for linear losses """
    diameter: float
    """ diameter of the domain """
    gradient_std: float | Unset = UNSET
    """ root mean square of ∇f(x; z) − ∇f_i(x), at its largest; absent: G """
    heterogeneity: float | Unset = UNSET
    """ root mean square over clients of ∇f_i − ∇f; absent: G """
    smoothness_std: float | Unset = UNSET
    """ Lipschitz constant of ∇f(x; z) − ∇f_i(x); absent: L """
    smoothness_heterogeneity: float | Unset = UNSET
    """ Lipschitz constant of ∇f_i − ∇f; absent: L """
    round_: int | Unset = 1
    """ communication rounds """

    def to_dict(self) -> dict[str, Any]:
        lipschitz = self.lipschitz

        smoothness = self.smoothness

        diameter = self.diameter

        gradient_std = self.gradient_std

        heterogeneity = self.heterogeneity

        smoothness_std = self.smoothness_std

        smoothness_heterogeneity = self.smoothness_heterogeneity

        round_ = self.round_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "diameter": diameter,
            }
        )
        if gradient_std is not UNSET:
            field_dict["gradient_std"] = gradient_std
        if heterogeneity is not UNSET:
            field_dict["heterogeneity"] = heterogeneity
        if smoothness_std is not UNSET:
            field_dict["smoothness_std"] = smoothness_std
        if smoothness_heterogeneity is not UNSET:
            field_dict["smoothness_heterogeneity"] = smoothness_heterogeneity
        if round_ is not UNSET:
            field_dict["round"] = round_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lipschitz = d.pop("lipschitz")

        smoothness = d.pop("smoothness")

        diameter = d.pop("diameter")

        gradient_std = d.pop("gradient_std", UNSET)

        heterogeneity = d.pop("heterogeneity", UNSET)

        smoothness_std = d.pop("smoothness_std", UNSET)

        smoothness_heterogeneity = d.pop("smoothness_heterogeneity", UNSET)

        round_ = d.pop("round", UNSET)

        constants_inputs = cls(
            lipschitz=lipschitz,
            smoothness=smoothness,
            diameter=diameter,
            gradient_std=gradient_std,
            heterogeneity=heterogeneity,
            smoothness_std=smoothness_std,
            smoothness_heterogeneity=smoothness_heterogeneity,
            round_=round_,
        )

        return constants_inputs
