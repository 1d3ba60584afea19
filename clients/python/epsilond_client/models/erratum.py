from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.grade import Grade
from ..types import UNSET, Unset

T = TypeVar("T", bound="Erratum")


@_attrs_define
class Erratum:
    """Finding about a printed text, with its grade.

    Attributes:
        id: name of the finding, such as E-19.
        grade: kind of the finding.
        printed: what the text says, in our words.
        truth: what we find.
        test: pytest node ID of the test that shows it. Another test checks that it exists.
        place: place in the text, such as "Section 2.2, after (9)"; empty if it is not recorded.
        charitable: the most charitable interpretation of the text, and its consequence; empty if it is not recorded.

        Attributes:
            id (str):
            grade (Grade): Kind of finding that an erratum is.
            printed (str):
            truth (str):
            test (str):
            place (str | Unset):
            charitable (str | Unset):
    """

    id: str
    grade: Grade
    printed: str
    truth: str
    test: str
    place: str | Unset = UNSET
    charitable: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        grade = self.grade.value

        printed = self.printed

        truth = self.truth

        test = self.test

        place = self.place

        charitable = self.charitable

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "grade": grade,
                "printed": printed,
                "truth": truth,
                "test": test,
            }
        )
        if place is not UNSET:
            field_dict["place"] = place
        if charitable is not UNSET:
            field_dict["charitable"] = charitable

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        grade = Grade(d.pop("grade"))

        printed = d.pop("printed")

        truth = d.pop("truth")

        test = d.pop("test")

        place = d.pop("place", UNSET)

        charitable = d.pop("charitable", UNSET)

        erratum = cls(
            id=id,
            grade=grade,
            printed=printed,
            truth=truth,
            test=test,
            place=place,
            charitable=charitable,
        )

        erratum.additional_properties = d
        return erratum

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
