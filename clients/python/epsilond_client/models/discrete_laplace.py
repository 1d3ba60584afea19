from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

T = TypeVar("T", bound="DiscreteLaplace")


@_attrs_define
class DiscreteLaplace:
    """Adds two-sided geometric noise, P(y) ∝ e^(−decay_rate·|y|) on the integers, to each coordinate of integers.

    `sensitivity` is the ℓ1 distance of the integers on any two data sets that are neighbours in the request's relation.

    Admits: integers that depend on the data in any way within that distance. They need not be a sum, and a zeroed
    record may count where an absent one does not: 1000 |S| + Σ x has distance 1 under zero-out-one if every x is 0 or
    1. So a Poisson batch of them is thinned under zero-out-one (δ' = q δ at the same ε) and not amplified.

    """

    kind: Literal["discrete_laplace"]
    """ which mechanism this is """
    decay_rate: float
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    sensitivity: int
    """ ℓ1 distance of the integers on neighbouring data, at its largest """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        decay_rate = self.decay_rate

        sensitivity = self.sensitivity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "decay_rate": decay_rate,
                "sensitivity": sensitivity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["discrete_laplace"], d.pop("kind"))
        if kind != "discrete_laplace":
            raise ValueError(f"kind must match const 'discrete_laplace', got '{kind}'")

        decay_rate = d.pop("decay_rate")

        sensitivity = d.pop("sensitivity")

        discrete_laplace = cls(
            kind=kind,
            decay_rate=decay_rate,
            sensitivity=sensitivity,
        )

        return discrete_laplace
