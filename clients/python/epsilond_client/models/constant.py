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

T = TypeVar("T", bound="Constant")


@_attrs_define
class Constant:
    """The same value at every step."""

    kind: Literal["constant"]
    """ which schedule this is """
    value: float
    """ the value at every step """

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        value = self.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "kind": kind,
                "value": value,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = cast(Literal["constant"], d.pop("kind"))
        if kind != "constant":
            raise ValueError(f"kind must match const 'constant', got '{kind}'")

        value = d.pop("value")

        constant = cls(
            kind=kind,
            value=value,
        )

        return constant
