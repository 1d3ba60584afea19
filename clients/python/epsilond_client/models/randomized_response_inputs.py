from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RandomizedResponseInputs")


@_attrs_define
class RandomizedResponseInputs:
    """One report, and an order to give its Rényi divergence at."""

    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    categories: int
    """ categories a report is one of """
    order: float | Unset = 2.0
    """ order of a Rényi divergence """

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        categories = self.categories

        order = self.order

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epsilon": epsilon,
                "categories": categories,
            }
        )
        if order is not UNSET:
            field_dict["order"] = order

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        categories = d.pop("categories")

        order = d.pop("order", UNSET)

        randomized_response_inputs = cls(
            epsilon=epsilon,
            categories=categories,
            order=order,
        )

        return randomized_response_inputs
