from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.json_object import JsonObject
    from ..models.texts import Texts


T = TypeVar("T", bound="Algorithm")


@_attrs_define
class Algorithm:
    """An algorithm whose noise the service calibrates, as it is listed.

    `example` is the body of a request that it answers. `links` has the URLs of its calibrations and of their schema.

        Attributes:
            name (str):
            title (str):
            summary (str):
            theorems (list[str]):
            example (JsonObject): any JSON object
            links (Texts): texts of the page by their names
    """

    name: str
    title: str
    summary: str
    theorems: list[str]
    example: JsonObject
    links: Texts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        title = self.title

        summary = self.summary

        theorems = self.theorems

        example = self.example.to_dict()

        links = self.links.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "title": title,
                "summary": summary,
                "theorems": theorems,
                "example": example,
                "links": links,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_object import JsonObject
        from ..models.texts import Texts

        d = dict(src_dict)
        name = d.pop("name")

        title = d.pop("title")

        summary = d.pop("summary")

        theorems = cast(list[str], d.pop("theorems"))

        example = JsonObject.from_dict(d.pop("example"))

        links = Texts.from_dict(d.pop("links"))

        algorithm = cls(
            name=name,
            title=title,
            summary=summary,
            theorems=theorems,
            example=example,
            links=links,
        )

        algorithm.additional_properties = d
        return algorithm

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
