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

from ..types import UNSET, Unset

T = TypeVar("T", bound="TruncatedDiscreteLaplace")


@_attrs_define
class TruncatedDiscreteLaplace:
    """Adds noise with P(y) ∝ e^(−decay_rate·|y|) on {−noise_levels, …, noise_levels} to each of `dimension` integers.

    The sensitivities bound the distance of the integers, in grid steps, on any two neighbours in the request's
    relation; a real bound means its floor. Outputs that only one of two neighbours can give are infinite losses.

    Admits: integers that depend on the data in any way within those distances, as `DiscreteLaplace` does.

    """

    kind: Literal["truncated_discrete_laplace"]
    """ which mechanism this is """
    noise_levels: int
    """ largest absolute value of truncated integer noise """
    decay_rate: float
    """ decay of integer noise: its probability at y is proportional to e^(−α|y|) """
    dimension: int
    """ coordinates of the model """
    l1_sensitivity: float
    """ ℓ1 distance of the values on neighbouring data """
    linf_sensitivity: float
    """ most that one coordinate differs between them """
    l2_sensitivity: float | Unset = UNSET
    """ ℓ2 distance of the values on neighbouring data """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        noise_levels = self.noise_levels

        decay_rate = self.decay_rate

        dimension = self.dimension

        l1_sensitivity = self.l1_sensitivity

        linf_sensitivity = self.linf_sensitivity

        l2_sensitivity = self.l2_sensitivity

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "noise_levels": noise_levels,
                "decay_rate": decay_rate,
                "dimension": dimension,
                "l1_sensitivity": l1_sensitivity,
                "linf_sensitivity": linf_sensitivity,
            }
        )
        if l2_sensitivity is not UNSET:
            field_dict["l2_sensitivity"] = l2_sensitivity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["truncated_discrete_laplace"], d.pop("kind"))
        if kind != "truncated_discrete_laplace":
            raise ValueError(f"kind must match const 'truncated_discrete_laplace', got '{kind}'")

        noise_levels = d.pop("noise_levels")

        decay_rate = d.pop("decay_rate")

        dimension = d.pop("dimension")

        l1_sensitivity = d.pop("l1_sensitivity")

        linf_sensitivity = d.pop("linf_sensitivity")

        l2_sensitivity = d.pop("l2_sensitivity", UNSET)

        truncated_discrete_laplace = cls(
            kind=kind,
            noise_levels=noise_levels,
            decay_rate=decay_rate,
            dimension=dimension,
            l1_sensitivity=l1_sensitivity,
            linf_sensitivity=linf_sensitivity,
            l2_sensitivity=l2_sensitivity,
        )

        return truncated_discrete_laplace
