from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="LogProof")


@_attrs_define
class LogProof:
    """Proof that an entry is in the log, or that an earlier log is the beginning of a later one.

    The first, a receipt, has `entry`, `proof`, `checkpoint` and `signature`. The second has `first`, `second` and
    `consistency_path`.

        Attributes:
            entry (JsonObject | Unset): any JSON object
            proof (JsonObject | Unset): any JSON object
            checkpoint (str | Unset): signed head of the log as a note (C2SP tlog-checkpoint); absent in a proof for two
                logs
            signature (str | Unset): signature of entry, proof and checkpoint: a detached JSON Web Signature; absent in a
                proof for two logs
            first (int | Unset): number of entries of the earlier log; absent in a proof for an entry
            second (int | Unset): number of entries of the later log; absent in a proof for an entry
            consistency_path (list[str] | Unset): hashes that prove that the later log continues the earlier one, in base
                64; absent in a proof for an entry
            warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    entry: JsonObject | Unset = UNSET
    proof: JsonObject | Unset = UNSET
    checkpoint: str | Unset = UNSET
    signature: str | Unset = UNSET
    first: int | Unset = UNSET
    second: int | Unset = UNSET
    consistency_path: list[str] | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entry: dict[str, Any] | Unset = UNSET
        if not isinstance(self.entry, Unset):
            entry = self.entry.to_dict()

        proof: dict[str, Any] | Unset = UNSET
        if not isinstance(self.proof, Unset):
            proof = self.proof.to_dict()

        checkpoint = self.checkpoint

        signature = self.signature

        first = self.first

        second = self.second

        consistency_path: list[str] | Unset = UNSET
        if not isinstance(self.consistency_path, Unset):
            consistency_path = self.consistency_path

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if entry is not UNSET:
            field_dict["entry"] = entry
        if proof is not UNSET:
            field_dict["proof"] = proof
        if checkpoint is not UNSET:
            field_dict["checkpoint"] = checkpoint
        if signature is not UNSET:
            field_dict["signature"] = signature
        if first is not UNSET:
            field_dict["first"] = first
        if second is not UNSET:
            field_dict["second"] = second
        if consistency_path is not UNSET:
            field_dict["consistency_path"] = consistency_path
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        _entry = d.pop("entry", UNSET)
        entry: JsonObject | Unset
        if isinstance(_entry, Unset):
            entry = UNSET
        else:
            entry = JsonObject.from_dict(_entry)

        _proof = d.pop("proof", UNSET)
        proof: JsonObject | Unset
        if isinstance(_proof, Unset):
            proof = UNSET
        else:
            proof = JsonObject.from_dict(_proof)

        checkpoint = d.pop("checkpoint", UNSET)

        signature = d.pop("signature", UNSET)

        first = d.pop("first", UNSET)

        second = d.pop("second", UNSET)

        consistency_path = cast(list[str], d.pop("consistency_path", UNSET))

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        log_proof = cls(
            entry=entry,
            proof=proof,
            checkpoint=checkpoint,
            signature=signature,
            first=first,
            second=second,
            consistency_path=consistency_path,
            warnings=warnings,
        )

        log_proof.additional_properties = d
        return log_proof

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
