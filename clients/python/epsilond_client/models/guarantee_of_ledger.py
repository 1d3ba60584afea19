from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="GuaranteeOfLedger")


@_attrs_define
class GuaranteeOfLedger:
    """The guarantee for all runs that the ledger ever allows, certified when it was opened or last amended.

    Attributes:
        in_words (str): the guarantee in one sentence
        epsilon (float): upper bound on ε of all runs together that the ledger allows, at the target's δ
        log10_delta (float): upper bound on the base-10 logarithm of δ of all runs together that the ledger allows, at
            the target's ε
        theorems (list[str]): ids of the theorems that prove the guarantee and the charges of the reservations
    """

    in_words: str
    epsilon: float
    log10_delta: float
    theorems: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        in_words = self.in_words

        epsilon = self.epsilon

        log10_delta = self.log10_delta

        theorems = self.theorems

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "in_words": in_words,
                "epsilon": epsilon,
                "log10_delta": log10_delta,
                "theorems": theorems,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        in_words = d.pop("in_words")

        epsilon = d.pop("epsilon")

        log10_delta = d.pop("log10_delta")

        theorems = cast(list[str], d.pop("theorems"))

        guarantee_of_ledger = cls(
            in_words=in_words,
            epsilon=epsilon,
            log10_delta=log10_delta,
            theorems=theorems,
        )

        guarantee_of_ledger.additional_properties = d
        return guarantee_of_ledger

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
