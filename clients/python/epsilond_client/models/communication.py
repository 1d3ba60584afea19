from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.communication_beside import CommunicationBeside


T = TypeVar("T", bound="Communication")


@_attrs_define
class Communication:
    """Contents and size of the messages.

    Attributes:
        bits_per_coordinate (float):
        bits_per_round_per_client (int):
        total_bits (int): largest possible number of bits of all messages of the run
        extra_bits_per_coordinate (float | Unset): bits per coordinate that are needed because of the noise, in addition
            to those of the rounded value
        expected_total_bits (float | Unset): expected number of bits of all messages of the run; absent unless the
            number of participants is random
        beside (CommunicationBeside | Unset): The bits that other encodings of the same messages would need, for
            comparison.
        total_bits_exact (str | Unset): total_bits with all its digits, as a decimal string; absent unless total_bits is
            2^53 or more
    """

    bits_per_coordinate: float
    bits_per_round_per_client: int
    total_bits: int
    extra_bits_per_coordinate: float | Unset = UNSET
    expected_total_bits: float | Unset = UNSET
    beside: CommunicationBeside | Unset = UNSET
    total_bits_exact: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bits_per_coordinate = self.bits_per_coordinate

        bits_per_round_per_client = self.bits_per_round_per_client

        total_bits = self.total_bits

        extra_bits_per_coordinate = self.extra_bits_per_coordinate

        expected_total_bits = self.expected_total_bits

        beside: dict[str, Any] | Unset = UNSET
        if not isinstance(self.beside, Unset):
            beside = self.beside.to_dict()

        total_bits_exact = self.total_bits_exact

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bits_per_coordinate": bits_per_coordinate,
                "bits_per_round_per_client": bits_per_round_per_client,
                "total_bits": total_bits,
            }
        )
        if extra_bits_per_coordinate is not UNSET:
            field_dict["extra_bits_per_coordinate"] = extra_bits_per_coordinate
        if expected_total_bits is not UNSET:
            field_dict["expected_total_bits"] = expected_total_bits
        if beside is not UNSET:
            field_dict["beside"] = beside
        if total_bits_exact is not UNSET:
            field_dict["total_bits_exact"] = total_bits_exact

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.communication_beside import CommunicationBeside

        d = dict(src_dict)
        bits_per_coordinate = d.pop("bits_per_coordinate")

        bits_per_round_per_client = d.pop("bits_per_round_per_client")

        total_bits = d.pop("total_bits")

        extra_bits_per_coordinate = d.pop("extra_bits_per_coordinate", UNSET)

        expected_total_bits = d.pop("expected_total_bits", UNSET)

        _beside = d.pop("beside", UNSET)
        beside: CommunicationBeside | Unset
        if isinstance(_beside, Unset):
            beside = UNSET
        else:
            beside = CommunicationBeside.from_dict(_beside)

        total_bits_exact = d.pop("total_bits_exact", UNSET)

        communication = cls(
            bits_per_coordinate=bits_per_coordinate,
            bits_per_round_per_client=bits_per_round_per_client,
            total_bits=total_bits,
            extra_bits_per_coordinate=extra_bits_per_coordinate,
            expected_total_bits=expected_total_bits,
            beside=beside,
            total_bits_exact=total_bits_exact,
        )

        communication.additional_properties = d
        return communication

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
