from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.caution import Caution
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="PendingMove")


@_attrs_define
class PendingMove:
    """A move of a ledger with approval: requested by one person, and made once another person approves.

    Attributes:
        id (str):
        ledger (str): id of the ledger
        kind (str): kind of the requested move
        state (str): state of the move. pending: nothing has changed yet. approved: the move was made. Otherwise it
            ended without being made
        body (JsonObject): any JSON object
        requested_by (str): name of the caller who requested the move
        requested_at (str): time at which the move was requested (RFC 3339, UTC)
        expires_at (str | Unset): time after which the move cannot be approved any more; absent: it does not expire
        closed_by (str | Unset): name of the person who approved, rejected or withdrew the move; absent while it is
            pending, or if it expired
        closed_at (str | Unset): time at which the move ended; absent while it is pending
        warnings (list[Caution] | Unset): warnings; absent if there are none
    """

    id: str
    ledger: str
    kind: str
    state: str
    body: JsonObject
    requested_by: str
    requested_at: str
    expires_at: str | Unset = UNSET
    closed_by: str | Unset = UNSET
    closed_at: str | Unset = UNSET
    warnings: list[Caution] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        ledger = self.ledger

        kind = self.kind

        state = self.state

        body = self.body.to_dict()

        requested_by = self.requested_by

        requested_at = self.requested_at

        expires_at = self.expires_at

        closed_by = self.closed_by

        closed_at = self.closed_at

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
                "id": id,
                "ledger": ledger,
                "kind": kind,
                "state": state,
                "body": body,
                "requested_by": requested_by,
                "requested_at": requested_at,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if closed_by is not UNSET:
            field_dict["closed_by"] = closed_by
        if closed_at is not UNSET:
            field_dict["closed_at"] = closed_at
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.caution import Caution
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        id = d.pop("id")

        ledger = d.pop("ledger")

        kind = d.pop("kind")

        state = d.pop("state")

        body = JsonObject.from_dict(d.pop("body"))

        requested_by = d.pop("requested_by")

        requested_at = d.pop("requested_at")

        expires_at = d.pop("expires_at", UNSET)

        closed_by = d.pop("closed_by", UNSET)

        closed_at = d.pop("closed_at", UNSET)

        _warnings = d.pop("warnings", UNSET)
        warnings: list[Caution] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = Caution.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        pending_move = cls(
            id=id,
            ledger=ledger,
            kind=kind,
            state=state,
            body=body,
            requested_by=requested_by,
            requested_at=requested_at,
            expires_at=expires_at,
            closed_by=closed_by,
            closed_at=closed_at,
            warnings=warnings,
        )

        pending_move.additional_properties = d
        return pending_move

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
