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

T = TypeVar("T", bound="Laplace")


@_attrs_define
class Laplace:
    """Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

    b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

    Admits: what `Gaussian` admits, with Laplace noise.

    """

    kind: Literal["laplace"]
    """ which mechanism this is """
    scale_multiplier: float
    """ Laplace scale over the bound on the ℓ1 norm of one contribution (never over the sensitivity) """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        scale_multiplier = self.scale_multiplier

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "scale_multiplier": scale_multiplier,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["laplace"], d.pop("kind"))
        if kind != "laplace":
            raise ValueError(f"kind must match const 'laplace', got '{kind}'")

        scale_multiplier = d.pop("scale_multiplier")

        laplace = cls(
            kind=kind,
            scale_multiplier=scale_multiplier,
        )

        return laplace
