from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.unit import Unit

T = TypeVar("T", bound="WindowedUnit")


@_attrs_define
class WindowedUnit:
    """The contributions of one record or client within one window of time, such as a client's within one day.

    Attributes:
        of (Unit): record: One record is protected. client: Everything that one client holds is protected.
        window (str): length of a window of time. Windows do not overlap, and every contribution is in exactly one of
            them
    """

    of: Unit
    window: str

    def to_dict(self) -> dict[str, Any]:
        of = self.of.value

        window = self.window

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "of": of,
                "window": window,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        of = Unit(d.pop("of"))

        window = d.pop("window")

        windowed_unit = cls(
            of=of,
            window=window,
        )

        return windowed_unit
