from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.charge_answer import ChargeAnswer
    from ..models.holding_answer import HoldingAnswer
    from ..models.receipt import Receipt


T = TypeVar("T", bound="ReservationAnswer")


@_attrs_define
class ReservationAnswer:
    """Runs that are held until they are committed or cancelled, or expire.

    Attributes:
        id (str):
        state (str): state of the reservation. reserved: no run is committed. committed: at least one run is. cancelled:
            it was given back. expired: its time is over
        count (int): number of runs
        committed (int): number of committed runs, whose outputs may have been released. If ledgers differ in it, the
            smallest number
        charge (ChargeAnswer): Cost of a job: a number of runs of a planned item, or amounts of a slot of the privacy
            budget.
        created (str): time at which the reservation was made (RFC 3339, UTC)
        ledgers (list[str]): ids of the ledgers that pay for the runs
        holdings (list[HoldingAnswer]): runs and their cost in each ledger that pays
        warnings (list[Caution]):
        expires (str | Unset): time at which uncommitted runs return to the ledger; absent: they do not expire
        receipts (list[Receipt] | Unset): receipts of the newest commits of the reservation
    """

    id: str
    state: str
    count: int
    committed: int
    charge: ChargeAnswer
    created: str
    ledgers: list[str]
    holdings: list[HoldingAnswer]
    warnings: list[Caution]
    expires: str | Unset = UNSET
    receipts: list[Receipt] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state = self.state

        count = self.count

        committed = self.committed

        charge = self.charge.to_dict()

        created = self.created

        ledgers = self.ledgers

        holdings = []
        for holdings_item_data in self.holdings:
            holdings_item = holdings_item_data.to_dict()
            holdings.append(holdings_item)

        warnings = []
        for warnings_item_data in self.warnings:
            warnings_item = warnings_item_data.to_dict()
            warnings.append(warnings_item)

        expires = self.expires

        receipts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.receipts, Unset):
            receipts = []
            for receipts_item_data in self.receipts:
                receipts_item = receipts_item_data.to_dict()
                receipts.append(receipts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
                "count": count,
                "committed": committed,
                "charge": charge,
                "created": created,
                "ledgers": ledgers,
                "holdings": holdings,
                "warnings": warnings,
            }
        )
        if expires is not UNSET:
            field_dict["expires"] = expires
        if receipts is not UNSET:
            field_dict["receipts"] = receipts

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.charge_answer import ChargeAnswer
        from ..models.holding_answer import HoldingAnswer
        from ..models.receipt import Receipt

        d = dict(src_dict)
        id = d.pop("id")

        state = d.pop("state")

        count = d.pop("count")

        committed = d.pop("committed")

        charge = ChargeAnswer.from_dict(d.pop("charge"))

        created = d.pop("created")

        ledgers = cast(list[str], d.pop("ledgers"))

        holdings = []
        _holdings = d.pop("holdings")
        for holdings_item_data in _holdings:
            holdings_item = HoldingAnswer.from_dict(holdings_item_data)

            holdings.append(holdings_item)

        warnings = []
        _warnings = d.pop("warnings")
        for warnings_item_data in _warnings:
            warnings_item = Caution.from_dict(warnings_item_data)

            warnings.append(warnings_item)

        expires = d.pop("expires", UNSET)

        _receipts = d.pop("receipts", UNSET)
        receipts: list[Receipt] | Unset = UNSET
        if _receipts is not UNSET:
            receipts = []
            for receipts_item_data in _receipts:
                receipts_item = Receipt.from_dict(receipts_item_data)

                receipts.append(receipts_item)

        reservation_answer = cls(
            id=id,
            state=state,
            count=count,
            committed=committed,
            charge=charge,
            created=created,
            ledgers=ledgers,
            holdings=holdings,
            warnings=warnings,
            expires=expires,
            receipts=receipts,
        )

        reservation_answer.additional_properties = d
        return reservation_answer

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
