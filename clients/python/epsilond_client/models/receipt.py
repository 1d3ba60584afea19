from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.json_object import JsonObject
    from ..models.receipt_answer import ReceiptAnswer


T = TypeVar("T", bound="Receipt")


@_attrs_define
class Receipt:
    """The receipt of a commit. With several ledgers it is that of the first one by id, and `receipts` has all.

    Attributes:
        entry (JsonObject): any JSON object
        proof (JsonObject): any JSON object
        checkpoint (str): the log's head as a signed note (C2SP tlog-checkpoint)
        signature (str): signature of entry, proof and checkpoint: a detached JSON Web Signature (RFC 7515)
        receipts (list[ReceiptAnswer] | Unset): one receipt for each ledger; absent if there is only one
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    entry: JsonObject
    proof: JsonObject
    checkpoint: str
    signature: str
    receipts: list[ReceiptAnswer] | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entry = self.entry.to_dict()

        proof = self.proof.to_dict()

        checkpoint = self.checkpoint

        signature = self.signature

        receipts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.receipts, Unset):
            receipts = []
            for receipts_item_data in self.receipts:
                receipts_item = receipts_item_data.to_dict()
                receipts.append(receipts_item)

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

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
        if receipts is not UNSET:
            field_dict["receipts"] = receipts
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.json_object import JsonObject
        from ..models.receipt_answer import ReceiptAnswer

        d = dict(src_dict)
        entry = JsonObject.from_dict(d.pop("entry"))

        proof = JsonObject.from_dict(d.pop("proof"))

        checkpoint = d.pop("checkpoint")

        signature = d.pop("signature")

        _receipts = d.pop("receipts", UNSET)
        receipts: list[ReceiptAnswer] | Unset = UNSET
        if _receipts is not UNSET:
            receipts = []
            for receipts_item_data in _receipts:
                receipts_item = ReceiptAnswer.from_dict(receipts_item_data)

                receipts.append(receipts_item)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        receipt = cls(
            entry=entry,
            proof=proof,
            checkpoint=checkpoint,
            signature=signature,
            receipts=receipts,
            warnings=warnings,
        )

        receipt.additional_properties = d
        return receipt

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
