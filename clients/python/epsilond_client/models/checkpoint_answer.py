from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution


T = TypeVar("T", bound="CheckpointAnswer")


@_attrs_define
class CheckpointAnswer:
    """The signed head of the log: its present size and root hash.

    Attributes:
        origin (str): name of the log; the names of its keys contain it
        size (int): number of entries of the log
        root (str): root hash of the log's Merkle tree (RFC 9162), in base 64
        checkpoint (str): origin, size and root as a signed note (C2SP tlog-checkpoint)
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    origin: str
    size: int
    root: str
    checkpoint: str
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        origin = self.origin

        size = self.size

        root = self.root

        checkpoint = self.checkpoint

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
                "origin": origin,
                "size": size,
                "root": root,
                "checkpoint": checkpoint,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution

        d = dict(src_dict)
        origin = d.pop("origin")

        size = d.pop("size")

        root = d.pop("root")

        checkpoint = d.pop("checkpoint")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        checkpoint_answer = cls(
            origin=origin,
            size=size,
            root=root,
            checkpoint=checkpoint,
            warnings=warnings,
        )

        checkpoint_answer.additional_properties = d
        return checkpoint_answer

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
