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

T = TypeVar("T", bound="InverseTime")


@_attrs_define
class InverseTime:
    """`scale`/t at step t: η_t = 1/(λt) has scale 1/λ."""

    kind: Literal["inverse-time"]
    """ which schedule this is """
    scale: float
    """ the value at step 1, divided by t at step t """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        scale = self.scale

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "scale": scale,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["inverse-time"], d.pop("kind"))
        if kind != "inverse-time":
            raise ValueError(f"kind must match const 'inverse-time', got '{kind}'")

        scale = d.pop("scale")

        inverse_time = cls(
            kind=kind,
            scale=scale,
        )

        return inverse_time
