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

T = TypeVar("T", bound="Explicit")


@_attrs_define
class Explicit:
    """Listed values, one for each step."""

    kind: Literal["explicit"]
    """ which schedule this is """
    values: list[float]
    """ the values at steps 1, …, T in their order """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        values = self.values

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["explicit"], d.pop("kind"))
        if kind != "explicit":
            raise ValueError(f"kind must match const 'explicit', got '{kind}'")

        values = cast(list[float], d.pop("values"))

        explicit = cls(
            kind=kind,
            values=values,
        )

        return explicit
