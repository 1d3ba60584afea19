from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.ends import Ends
    from ..models.true_positive_rate import TruePositiveRate


T = TypeVar("T", bound="MeaningAnswer")


@_attrs_define
class MeaningAnswer:
    """The success of the best attacker who has to distinguish two neighbouring data sets.

    Attributes:
        advantage (Ends): A lower and an upper bound, between which the true value is.
        true_positive_rates (list[TruePositiveRate]):
    """

    advantage: Ends
    true_positive_rates: list[TruePositiveRate]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        advantage = self.advantage.to_dict()

        true_positive_rates = []
        for true_positive_rates_item_data in self.true_positive_rates:
            true_positive_rates_item = true_positive_rates_item_data.to_dict()
            true_positive_rates.append(true_positive_rates_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "advantage": advantage,
                "true_positive_rates": true_positive_rates,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.ends import Ends
        from ..models.true_positive_rate import TruePositiveRate

        d = dict(src_dict)
        advantage = Ends.from_dict(d.pop("advantage"))

        true_positive_rates = []
        _true_positive_rates = d.pop("true_positive_rates")
        for true_positive_rates_item_data in _true_positive_rates:
            true_positive_rates_item = TruePositiveRate.from_dict(
                true_positive_rates_item_data
            )

            true_positive_rates.append(true_positive_rates_item)

        meaning_answer = cls(
            advantage=advantage,
            true_positive_rates=true_positive_rates,
        )

        meaning_answer.additional_properties = d
        return meaning_answer

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
