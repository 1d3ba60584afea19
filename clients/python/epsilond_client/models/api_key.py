from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ApiKey")


@_attrs_define
class ApiKey:
    """An API key, without the key.

    Attributes:
        id (str):
        name (str):
        scopes (list[str]):
        expires (str | Unset):
        revoked (str | Unset):
        last_used (str | Unset):
    """

    id: str
    name: str
    scopes: list[str]
    expires: str | Unset = UNSET
    revoked: str | Unset = UNSET
    last_used: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        scopes = self.scopes

        expires = self.expires

        revoked = self.revoked

        last_used = self.last_used

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "scopes": scopes,
            }
        )
        if expires is not UNSET:
            field_dict["expires"] = expires
        if revoked is not UNSET:
            field_dict["revoked"] = revoked
        if last_used is not UNSET:
            field_dict["last_used"] = last_used

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        scopes = cast(list[str], d.pop("scopes"))

        expires = d.pop("expires", UNSET)

        revoked = d.pop("revoked", UNSET)

        last_used = d.pop("last_used", UNSET)

        api_key = cls(
            id=id,
            name=name,
            scopes=scopes,
            expires=expires,
            revoked=revoked,
            last_used=last_used,
        )

        api_key.additional_properties = d
        return api_key

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
