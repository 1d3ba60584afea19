from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="JobLinks")


@_attrs_define
class JobLinks:
    """Links to the parts of a job.

    Attributes:
        self_ (str):
        events (str):
        result (str | Unset): URL of the answer, which is the same as without a job; absent until the job is done
        figure (str | Unset): URL of a drawing of the result of a simulation; absent until the job is done
    """

    self_: str
    events: str
    result: str | Unset = UNSET
    figure: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        self_ = self.self_

        events = self.events

        result = self.result

        figure = self.figure

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "self": self_,
                "events": events,
            }
        )
        if result is not UNSET:
            field_dict["result"] = result
        if figure is not UNSET:
            field_dict["figure"] = figure

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        self_ = d.pop("self")

        events = d.pop("events")

        result = d.pop("result", UNSET)

        figure = d.pop("figure", UNSET)

        job_links = cls(
            self_=self_,
            events=events,
            result=result,
            figure=figure,
        )

        job_links.additional_properties = d
        return job_links

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
