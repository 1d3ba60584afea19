from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reading import Reading
from ..models.status import Status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.condition import Condition
    from ..models.numbers import Numbers
    from ..models.printed_claims import PrintedClaims
    from ..models.reading_details import ReadingDetails
    from ..models.true_at_printed import TrueAtPrinted


T = TypeVar("T", bound="PrintedEntry")


@_attrs_define
class PrintedEntry:
    """All readings (interpretations) of a theorem that prescribe the same parameters, and the guarantee there.

    The members of the entry hold for every reading in `readings`. `by_reading` has the differences between the
    readings.

        Attributes:
            theorem (str):
            readings (list[Reading]): interpretations (readings) of the theorem that prescribe these parameters
            status (Status): Whether the statement, read as it is used here, holds.
            parameters (Numbers): numbers by name
            reason (str | Unset): why the statement is not proved for this request; absent if status does not depend on the
                request
            claims (PrintedClaims | Unset): What a printed theorem claims in all readings (interpretations) of this entry:
                ε, δ and the excess risk.

                Claims that repeat the rest of the answer are left out.
            true_ (TrueAtPrinted | Unset): The certified guarantee at the printed parameters: ε at the target δ, and log10 δ
                at the target ε.

                Both are rounded outward to 6 significant digits.
            conditions (list[Condition] | Unset): conditions of all these readings that fail or cannot be decided at this
                request. POST /v1/theorems/{theorem}/evaluations also returns those that hold
            by_reading (list[ReadingDetails] | Unset): differences between the readings; absent where there are none
    """

    theorem: str
    readings: list[Reading]
    status: Status
    parameters: Numbers
    reason: str | Unset = UNSET
    claims: PrintedClaims | Unset = UNSET
    true_: TrueAtPrinted | Unset = UNSET
    conditions: list[Condition] | Unset = UNSET
    by_reading: list[ReadingDetails] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        theorem = self.theorem

        readings = []
        for readings_item_data in self.readings:
            readings_item = readings_item_data.value
            readings.append(readings_item)

        status = self.status.value

        parameters = self.parameters.to_dict()

        reason = self.reason

        claims: dict[str, Any] | Unset = UNSET
        if not isinstance(self.claims, Unset):
            claims = self.claims.to_dict()

        true_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.true_, Unset):
            true_ = self.true_.to_dict()

        conditions: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.conditions, Unset):
            conditions = []
            for conditions_item_data in self.conditions:
                conditions_item = conditions_item_data.to_dict()
                conditions.append(conditions_item)

        by_reading: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.by_reading, Unset):
            by_reading = []
            for by_reading_item_data in self.by_reading:
                by_reading_item = by_reading_item_data.to_dict()
                by_reading.append(by_reading_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "theorem": theorem,
                "readings": readings,
                "status": status,
                "parameters": parameters,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if claims is not UNSET:
            field_dict["claims"] = claims
        if true_ is not UNSET:
            field_dict["true"] = true_
        if conditions is not UNSET:
            field_dict["conditions"] = conditions
        if by_reading is not UNSET:
            field_dict["by_reading"] = by_reading

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.condition import Condition
        from ..models.numbers import Numbers
        from ..models.printed_claims import PrintedClaims
        from ..models.reading_details import ReadingDetails
        from ..models.true_at_printed import TrueAtPrinted

        d = dict(src_dict)
        theorem = d.pop("theorem")

        readings = []
        _readings = d.pop("readings")
        for readings_item_data in _readings:
            readings_item = Reading(readings_item_data)

            readings.append(readings_item)

        status = Status(d.pop("status"))

        parameters = Numbers.from_dict(d.pop("parameters"))

        reason = d.pop("reason", UNSET)

        _claims = d.pop("claims", UNSET)
        claims: PrintedClaims | Unset
        if isinstance(_claims, Unset):
            claims = UNSET
        else:
            claims = PrintedClaims.from_dict(_claims)

        _true_ = d.pop("true", UNSET)
        true_: TrueAtPrinted | Unset
        if isinstance(_true_, Unset):
            true_ = UNSET
        else:
            true_ = TrueAtPrinted.from_dict(_true_)

        _conditions = d.pop("conditions", UNSET)
        conditions: list[Condition] | Unset = UNSET
        if _conditions is not UNSET:
            conditions = []
            for conditions_item_data in _conditions:
                conditions_item = Condition.from_dict(conditions_item_data)

                conditions.append(conditions_item)

        _by_reading = d.pop("by_reading", UNSET)
        by_reading: list[ReadingDetails] | Unset = UNSET
        if _by_reading is not UNSET:
            by_reading = []
            for by_reading_item_data in _by_reading:
                by_reading_item = ReadingDetails.from_dict(by_reading_item_data)

                by_reading.append(by_reading_item)

        printed_entry = cls(
            theorem=theorem,
            readings=readings,
            status=status,
            parameters=parameters,
            reason=reason,
            claims=claims,
            true_=true_,
            conditions=conditions,
            by_reading=by_reading,
        )

        printed_entry.additional_properties = d
        return printed_entry

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
