from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.simulation_status import SimulationStatus, check_simulation_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.progress import Progress
    from ..models.simulation_links import SimulationLinks


T = TypeVar("T", bound="SimulationSummary")


@_attrs_define
class SimulationSummary:
    """A simulation without its request and its result."""

    id: str
    kind: str
    status: SimulationStatus
    created: str
    """ date and time, RFC 3339, UTC """
    engine_version: str
    """ of the mathematics that ran it """
    links: SimulationLinks
    """ Where more of it is. """
    progress: Progress | Unset = UNSET
    """ How far a simulation is. """
    started: str | Unset = UNSET
    """ when its first step began """
    ended: str | Unset = UNSET
    """ when it was done, failed, cancelled or interrupted """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        kind = self.kind

        status: str = self.status

        created = self.created

        engine_version = self.engine_version

        links = self.links.to_dict()

        progress: dict[str, Any] | Unset = UNSET
        if not isinstance(self.progress, Unset):
            progress = self.progress.to_dict()

        started = self.started

        ended = self.ended

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "status": status,
                "created": created,
                "engine_version": engine_version,
                "links": links,
            }
        )
        if progress is not UNSET:
            field_dict["progress"] = progress
        if started is not UNSET:
            field_dict["started"] = started
        if ended is not UNSET:
            field_dict["ended"] = ended

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.progress import Progress
        from ..models.simulation_links import SimulationLinks

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        status = check_simulation_status(d.pop("status"))

        created = d.pop("created")

        engine_version = d.pop("engine_version")

        links = SimulationLinks.from_dict(d.pop("links"))

        _progress = d.pop("progress", UNSET)
        progress: Progress | Unset
        if isinstance(_progress, Unset):
            progress = UNSET
        else:
            progress = Progress.from_dict(_progress)

        started = d.pop("started", UNSET)

        ended = d.pop("ended", UNSET)

        simulation_summary = cls(
            id=id,
            kind=kind,
            status=status,
            created=created,
            engine_version=engine_version,
            links=links,
            progress=progress,
            started=started,
            ended=ended,
        )

        simulation_summary.additional_properties = d
        return simulation_summary

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
