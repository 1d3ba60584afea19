from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.charge_answer import ChargeAnswer


T = TypeVar("T", bound="HoldingAnswer")


@_attrs_define
class HoldingAnswer:
    """Runs or amounts that a reservation holds in one ledger.

    Attributes:
        ledger (str):
        committed (int): number of committed runs, whose outputs may have been released
        charge (ChargeAnswer): Cost of a job: a number of runs of a planned item, or amounts of a slot of the privacy
            budget.
    """

    ledger: str
    committed: int
    charge: ChargeAnswer
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ledger = self.ledger

        committed = self.committed

        charge = self.charge.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ledger": ledger,
                "committed": committed,
                "charge": charge,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.charge_answer import ChargeAnswer

        d = dict(src_dict)
        ledger = d.pop("ledger")

        committed = d.pop("committed")

        charge = ChargeAnswer.from_dict(d.pop("charge"))

        holding_answer = cls(
            ledger=ledger,
            committed=committed,
            charge=charge,
        )

        holding_answer.additional_properties = d
        return holding_answer

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
