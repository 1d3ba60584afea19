from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.delta_of_direction import DeltaOfDirection


T = TypeVar("T", bound="Directions")


@_attrs_define
class Directions:
    """δ of each direction at one ε: the largest P(S) − e^ε Q(S) over sets S of outputs of two neighbours P and Q.

    Attributes:
        epsilon (float):
        with_against_without (DeltaOfDirection): Bounds on δ of one direction, and on its base-10 logarithm.
        without_against_with (DeltaOfDirection): Bounds on δ of one direction, and on its base-10 logarithm.
    """

    epsilon: float
    with_against_without: DeltaOfDirection
    without_against_with: DeltaOfDirection
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        epsilon = self.epsilon

        with_against_without = self.with_against_without.to_dict()

        without_against_with = self.without_against_with.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "epsilon": epsilon,
                "with_against_without": with_against_without,
                "without_against_with": without_against_with,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.delta_of_direction import DeltaOfDirection

        d = dict(src_dict)
        epsilon = d.pop("epsilon")

        with_against_without = DeltaOfDirection.from_dict(d.pop("with_against_without"))

        without_against_with = DeltaOfDirection.from_dict(d.pop("without_against_with"))

        directions = cls(
            epsilon=epsilon,
            with_against_without=with_against_without,
            without_against_with=without_against_with,
        )

        directions.additional_properties = d
        return directions

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
