from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="DeltaOfDirection")


@_attrs_define
class DeltaOfDirection:
    """Bounds on δ of one direction, and on its base-10 logarithm.

    Attributes:
        delta (Ends): A lower and an upper bound, between which the true value is.
        log10_delta (Ends): A lower and an upper bound, between which the true value is.
    """

    delta: Ends
    log10_delta: Ends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delta": delta,
                "log10_delta": log10_delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        delta_of_direction = cls(
            delta=delta,
            log10_delta=log10_delta,
        )

        delta_of_direction.additional_properties = d
        return delta_of_direction

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
