from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="Point")


@_attrs_define
class Point:
    """ε and δ at one requested point. Both bounds on the requested quantity are its value.

    Attributes:
        epsilon (Ends): A lower and an upper bound, between which the true value is.
        delta (Ends): A lower and an upper bound, between which the true value is.
        log10_delta (Ends): A lower and an upper bound, between which the true value is.
    """

    epsilon: Ends
    delta: Ends
    log10_delta: Ends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon.to_dict()

        delta = self.delta.to_dict()

        log10_delta = self.log10_delta.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon": epsilon,
                "delta": delta,
                "log10_delta": log10_delta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        epsilon = Ends.from_dict(d.pop("epsilon"))

        delta = Ends.from_dict(d.pop("delta"))

        log10_delta = Ends.from_dict(d.pop("log10_delta"))

        point = cls(
            epsilon=epsilon,
            delta=delta,
            log10_delta=log10_delta,
        )

        point.additional_properties = d
        return point

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
