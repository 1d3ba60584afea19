from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="ReceiptAnswer")


@_attrs_define
class ReceiptAnswer:
    """Evidence that anyone can check: an entry, the proof that the log contains it, and the log's signed head.

    Attributes:
        entry (JsonObject): any JSON object
        proof (JsonObject): any JSON object
        checkpoint (str): the log's head as a signed note (C2SP tlog-checkpoint)
        signature (str): signature of entry, proof and checkpoint: a detached JSON Web Signature (RFC 7515)
    """

    entry: JsonObject
    proof: JsonObject
    checkpoint: str
    signature: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entry = self.entry.to_dict()

        proof = self.proof.to_dict()

        checkpoint = self.checkpoint

        signature = self.signature

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entry": entry,
                "proof": proof,
                "checkpoint": checkpoint,
                "signature": signature,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        entry = JsonObject.from_dict(d.pop("entry"))

        proof = JsonObject.from_dict(d.pop("proof"))

        checkpoint = d.pop("checkpoint")

        signature = d.pop("signature")

        receipt_answer = cls(
            entry=entry,
            proof=proof,
            checkpoint=checkpoint,
            signature=signature,
        )

        receipt_answer.additional_properties = d
        return receipt_answer

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
