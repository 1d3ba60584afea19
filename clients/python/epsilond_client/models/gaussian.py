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

T = TypeVar("T", bound="Gaussian")


@_attrs_define
class Gaussian:
    """Adds N(0, σ²) per coordinate to a sum of contributions of ℓ2 norm at most C, with σ = noise_multiplier · C.

    Admits: a sum to which each record adds one vector, whatever the other records are. A record that is absent, not
    drawn or zeroed adds exactly zero, and the noise stays the same: neither a mean over the records present nor noise
    that each record brings along is one. Only the noisy sum is seen.

    """

    kind: Literal["gaussian"]
    """ which mechanism this is """
    noise_multiplier: float
    """ σ over the bound on the ℓ2 norm of one contribution to the noisy quantity, never over the sensitivity """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        noise_multiplier = self.noise_multiplier

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "noise_multiplier": noise_multiplier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["gaussian"], d.pop("kind"))
        if kind != "gaussian":
            raise ValueError(f"kind must match const 'gaussian', got '{kind}'")

        noise_multiplier = d.pop("noise_multiplier")

        gaussian = cls(
            kind=kind,
            noise_multiplier=noise_multiplier,
        )

        return gaussian
