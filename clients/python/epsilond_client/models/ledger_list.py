from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.ledger import Ledger


T = TypeVar("T", bound="LedgerList")


@_attrs_define
class LedgerList:
    """A page of ledgers, in the order in which they were opened.

    Attributes:
        ledgers (list[Ledger]):
        next_ (str | Unset): position at which the next page starts; absent on the last page
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    ledgers: list[Ledger]
    next_: str | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ledgers = []
        for ledgers_item_data in self.ledgers:
            ledgers_item = ledgers_item_data.to_dict()
            ledgers.append(ledgers_item)

        next_ = self.next_

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
                "ledgers": ledgers,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.ledger import Ledger

        d = dict(src_dict)
        ledgers = []
        _ledgers = d.pop("ledgers")
        for ledgers_item_data in _ledgers:
            ledgers_item = Ledger.from_dict(ledgers_item_data)

            ledgers.append(ledgers_item)

        next_ = d.pop("next", UNSET)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        ledger_list = cls(
            ledgers=ledgers,
            next_=next_,
            warnings=warnings,
        )

        ledger_list.additional_properties = d
        return ledger_list

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
