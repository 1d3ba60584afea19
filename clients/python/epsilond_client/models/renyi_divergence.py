from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends


T = TypeVar("T", bound="RenyiDivergence")


@_attrs_define
class RenyiDivergence:
    """The Rényi divergence of one order between the outputs on two neighbours, the larger one of both directions.

    Attributes:
        order (float):
        divergence (Ends): A lower and an upper bound, between which the true value is.
    """

    order: float
    divergence: Ends
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        order = self.order

        divergence = self.divergence.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "order": order,
                "divergence": divergence,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends

        d = dict(src_dict)
        order = d.pop("order")

        divergence = Ends.from_dict(d.pop("divergence"))

        renyi_divergence = cls(
            order=order,
            divergence=divergence,
        )

        renyi_divergence.additional_properties = d
        return renyi_divergence

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
