from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommunicationBeside")


@_attrs_define
class CommunicationBeside:
    """The bits that other encodings of the same messages would need, for comparison.

    Attributes:
        float32_total_bits (int): bits of all messages of the run if coordinates were sent as 32-bit floats, without
            noise
        printed_bits_per_coordinate (int | Unset): bits per coordinate with the noise that the paper prescribes; absent
            if it prescribes none
        printed_total_bits (int | Unset): bits of all messages of the run with the noise that the paper prescribes;
            absent if it prescribes none
        binomial_bits_per_coordinate (int | Unset): bits per coordinate with Binomial noise by theorem agarwal-2018.1;
            absent where this theorem does not apply
        binomial_total_bits (int | Unset): bits of all messages of the run with Binomial noise by theorem
            agarwal-2018.1; absent where this theorem does not apply
        float32_total_bits_exact (str | Unset): float32_total_bits with all its digits, as a decimal string; absent
            unless float32_total_bits is 2^53 or more
        printed_total_bits_exact (str | Unset): printed_total_bits with all its digits, as a decimal string; absent
            unless printed_total_bits is 2^53 or more
        binomial_total_bits_exact (str | Unset): binomial_total_bits with all its digits, as a decimal string; absent
            unless binomial_total_bits is 2^53 or more
    """

    float32_total_bits: int
    printed_bits_per_coordinate: int | Unset = UNSET
    printed_total_bits: int | Unset = UNSET
    binomial_bits_per_coordinate: int | Unset = UNSET
    binomial_total_bits: int | Unset = UNSET
    float32_total_bits_exact: str | Unset = UNSET
    printed_total_bits_exact: str | Unset = UNSET
    binomial_total_bits_exact: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        float32_total_bits = self.float32_total_bits

        printed_bits_per_coordinate = self.printed_bits_per_coordinate

        printed_total_bits = self.printed_total_bits

        binomial_bits_per_coordinate = self.binomial_bits_per_coordinate

        binomial_total_bits = self.binomial_total_bits

        float32_total_bits_exact = self.float32_total_bits_exact

        printed_total_bits_exact = self.printed_total_bits_exact

        binomial_total_bits_exact = self.binomial_total_bits_exact

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "float32_total_bits": float32_total_bits,
            }
        )
        if printed_bits_per_coordinate is not UNSET:
            field_dict["printed_bits_per_coordinate"] = printed_bits_per_coordinate
        if printed_total_bits is not UNSET:
            field_dict["printed_total_bits"] = printed_total_bits
        if binomial_bits_per_coordinate is not UNSET:
            field_dict["binomial_bits_per_coordinate"] = binomial_bits_per_coordinate
        if binomial_total_bits is not UNSET:
            field_dict["binomial_total_bits"] = binomial_total_bits
        if float32_total_bits_exact is not UNSET:
            field_dict["float32_total_bits_exact"] = float32_total_bits_exact
        if printed_total_bits_exact is not UNSET:
            field_dict["printed_total_bits_exact"] = printed_total_bits_exact
        if binomial_total_bits_exact is not UNSET:
            field_dict["binomial_total_bits_exact"] = binomial_total_bits_exact

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        float32_total_bits = d.pop("float32_total_bits")

        printed_bits_per_coordinate = d.pop("printed_bits_per_coordinate", UNSET)

        printed_total_bits = d.pop("printed_total_bits", UNSET)

        binomial_bits_per_coordinate = d.pop("binomial_bits_per_coordinate", UNSET)

        binomial_total_bits = d.pop("binomial_total_bits", UNSET)

        float32_total_bits_exact = d.pop("float32_total_bits_exact", UNSET)

        printed_total_bits_exact = d.pop("printed_total_bits_exact", UNSET)

        binomial_total_bits_exact = d.pop("binomial_total_bits_exact", UNSET)

        communication_beside = cls(
            float32_total_bits=float32_total_bits,
            printed_bits_per_coordinate=printed_bits_per_coordinate,
            printed_total_bits=printed_total_bits,
            binomial_bits_per_coordinate=binomial_bits_per_coordinate,
            binomial_total_bits=binomial_total_bits,
            float32_total_bits_exact=float32_total_bits_exact,
            printed_total_bits_exact=printed_total_bits_exact,
            binomial_total_bits_exact=binomial_total_bits_exact,
        )

        communication_beside.additional_properties = d
        return communication_beside

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
