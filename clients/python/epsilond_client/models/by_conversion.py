from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ByConversion")


@_attrs_define
class ByConversion:
    """One number, computed by three conversions between (ε, δ) and Gaussian differential privacy.

    Attributes:
        exact (float): value by the exact conversion, from the trade-off curve of the Gaussian mechanism
        zcdp (float): value by the best conversion from zero-concentrated differential privacy
        lemma (float): value by Lemma 2.6 of Reshef and Levy, as printed
    """

    exact: float
    zcdp: float
    lemma: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        exact = self.exact

        zcdp = self.zcdp

        lemma = self.lemma

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "exact": exact,
                "zcdp": zcdp,
                "lemma": lemma,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        exact = d.pop("exact")

        zcdp = d.pop("zcdp")

        lemma = d.pop("lemma")

        by_conversion = cls(
            exact=exact,
            zcdp=zcdp,
            lemma=lemma,
        )

        by_conversion.additional_properties = d
        return by_conversion

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
