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

T = TypeVar("T", bound="Approximate")


@_attrs_define
class Approximate:
    """Some mechanism of which nothing is known but that it is (ε, δ)-differentially private in the request's relation.

    δ = 0 is allowed: a pure guarantee.

    Admits: whatever keeps that guarantee. Under replace-one and zero-out-one it may tell how many records there are,
    and what it makes of a zeroed record need not be what it makes of an absent one.

    """

    kind: Literal["approximate"]
    """ which mechanism this is """
    epsilon: float
    """ privacy loss bound ε of (ε, δ), natural logs """
    delta: float
    """ failure probability δ of (ε, δ), 0 for a pure guarantee """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        epsilon = self.epsilon

        delta = self.delta

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "epsilon": epsilon,
                "delta": delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["approximate"], d.pop("kind"))
        if kind != "approximate":
            raise ValueError(f"kind must match const 'approximate', got '{kind}'")

        epsilon = d.pop("epsilon")

        delta = d.pop("delta")

        approximate = cls(
            kind=kind,
            epsilon=epsilon,
            delta=delta,
        )

        return approximate
