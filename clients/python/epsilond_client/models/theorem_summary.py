from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.status import Status, check_status
from ..models.theorem_summary_constants import (
    TheoremSummaryConstants,
    check_theorem_summary_constants,
)

if TYPE_CHECKING:
    from ..models.source import Source
    from ..models.theorem_summary_links import TheoremSummaryLinks


T = TypeVar("T", bound="TheoremSummary")


@_attrs_define
class TheoremSummary:
    """A theorem in the list."""

    id: str
    title: str
    statement: str
    source: Source
    """ Where a statement stands: a key of the bibliography and the item's number in it. """
    status: Status
    """ Whether the statement, read as it is used here, holds. """
    constants: TheoremSummaryConstants
    links: TheoremSummaryLinks
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        title = self.title

        statement = self.statement

        source = self.source.to_dict()

        status: str = self.status

        constants: str = self.constants

        links = self.links.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "title": title,
                "statement": statement,
                "source": source,
                "status": status,
                "constants": constants,
                "links": links,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.source import Source
        from ..models.theorem_summary_links import TheoremSummaryLinks

        d = dict(src_dict)
        id = d.pop("id")

        title = d.pop("title")

        statement = d.pop("statement")

        source = Source.from_dict(d.pop("source"))

        status = check_status(d.pop("status"))

        constants = check_theorem_summary_constants(d.pop("constants"))

        links = TheoremSummaryLinks.from_dict(d.pop("links"))

        theorem_summary = cls(
            id=id,
            title=title,
            statement=statement,
            source=source,
            status=status,
            constants=constants,
            links=links,
        )

        theorem_summary.additional_properties = d
        return theorem_summary

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
