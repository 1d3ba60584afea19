from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Kind")


@_attrs_define
class Kind:
    """One kind of problem: `slug` names it for good, `explanation` is what its page says.

    Attributes:
        slug (str):
        status (int):
        title (str):
        explanation (str):
    """

    slug: str
    status: int
    title: str
    explanation: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        slug = self.slug

        status = self.status

        title = self.title

        explanation = self.explanation

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "slug": slug,
                "status": status,
                "title": title,
                "explanation": explanation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        slug = d.pop("slug")

        status = d.pop("status")

        title = d.pop("title")

        explanation = d.pop("explanation")

        kind = cls(
            slug=slug,
            status=status,
            title=title,
            explanation=explanation,
        )

        kind.additional_properties = d
        return kind

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
