from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="TruePositiveRate")


@_attrs_define
class TruePositiveRate:
    """The largest true positive rate of an attacker with a given false positive rate.

    Attributes:
        false_positive_rate (float):
        true_positive_rate (Ends): A lower and an upper bound, between which the true value is.
    """

    false_positive_rate: float
    true_positive_rate: Ends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        false_positive_rate = self.false_positive_rate

        true_positive_rate = self.true_positive_rate.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "false_positive_rate": false_positive_rate,
                "true_positive_rate": true_positive_rate,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        false_positive_rate = d.pop("false_positive_rate")

        true_positive_rate = Ends.from_dict(d.pop("true_positive_rate"))

        true_positive_rate = cls(
            false_positive_rate=false_positive_rate,
            true_positive_rate=true_positive_rate,
        )

        true_positive_rate.additional_properties = d
        return true_positive_rate

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
