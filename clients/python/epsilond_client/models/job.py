from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_state import JobState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.job_links import JobLinks
    from ..models.json_object import JsonObject
    from ..models.problem import Problem
    from ..models.progress import Progress


T = TypeVar("T", bound="Job")


@_attrs_define
class Job:
    """A job with its request, its progress and, once it has ended, its result or its problem.

    Attributes:
        id (str):
        kind (str): kind of the request, such as calibration, sweep, account, risk-bounds, plan or simulation
        name (str): subject of the request, such as an algorithm, a kind of spec, a theorem or a kind of simulation
        state (JobState):
        created (str): time at which the job was created (RFC 3339, UTC)
        engine_version (str): version of the engine, the mathematics that computes the answer
        links (JobLinks): Links to the parts of a job.
        progress (Progress | Unset): The progress of a job, in steps and seconds.
        started (str | Unset): time at which the first step began; absent while the job is queued
        ended (str | Unset): time at which the job was done, failed, cancelled or interrupted; absent before
        request (JsonObject | Unset): any JSON object
        result (bool | float | JsonObject | list[Any] | str | Unset): any JSON value that is not null
        problem (Problem | Unset): A problem document (RFC 9457): the reason why a request was rejected or failed.
    """

    id: str
    kind: str
    name: str
    state: JobState
    created: str
    engine_version: str
    links: JobLinks
    progress: Progress | Unset = UNSET
    started: str | Unset = UNSET
    ended: str | Unset = UNSET
    request: JsonObject | Unset = UNSET
    result: bool | float | JsonObject | list[Any] | str | Unset = UNSET
    problem: Problem | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        id = self.id

        kind = self.kind

        name = self.name

        state = self.state.value

        created = self.created

        engine_version = self.engine_version

        links = self.links.to_dict()

        progress: dict[str, Any] | Unset = UNSET
        if not isinstance(self.progress, Unset):
            progress = self.progress.to_dict()

        started = self.started

        ended = self.ended

        request: dict[str, Any] | Unset = UNSET
        if not isinstance(self.request, Unset):
            request = self.request.to_dict()

        result: bool | dict[str, Any] | float | list[Any] | str | Unset
        if isinstance(self.result, Unset):
            result = UNSET
        elif isinstance(self.result, JsonObject):
            result = self.result.to_dict()
        elif isinstance(self.result, list):
            result = self.result

        else:
            result = self.result

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "kind": kind,
                "name": name,
                "state": state,
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
        if request is not UNSET:
            field_dict["request"] = request
        if result is not UNSET:
            field_dict["result"] = result
        if problem is not UNSET:
            field_dict["problem"] = problem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.job_links import JobLinks
        from ..models.json_object import JsonObject
        from ..models.problem import Problem
        from ..models.progress import Progress

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        name = d.pop("name")

        state = JobState(d.pop("state"))

        created = d.pop("created")

        engine_version = d.pop("engine_version")

        links = JobLinks.from_dict(d.pop("links"))

        _progress = d.pop("progress", UNSET)
        progress: Progress | Unset
        if isinstance(_progress, Unset):
            progress = UNSET
        else:
            progress = Progress.from_dict(_progress)

        started = d.pop("started", UNSET)

        ended = d.pop("ended", UNSET)

        _request = d.pop("request", UNSET)
        request: JsonObject | Unset
        if isinstance(_request, Unset):
            request = UNSET
        else:
            request = JsonObject.from_dict(_request)

        def _parse_result(
            data: object,
        ) -> bool | float | JsonObject | list[Any] | str | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_json_value_type_0 = JsonObject.from_dict(data)

                return componentsschemas_json_value_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                componentsschemas_json_value_type_1 = cast(list[Any], data)

                return componentsschemas_json_value_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | float | JsonObject | list[Any] | str | Unset, data)

        result = _parse_result(d.pop("result", UNSET))

        _problem = d.pop("problem", UNSET)
        problem: Problem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Problem.from_dict(_problem)

        job = cls(
            id=id,
            kind=kind,
            name=name,
            state=state,
            created=created,
            engine_version=engine_version,
            links=links,
            progress=progress,
            started=started,
            ended=ended,
            request=request,
            result=result,
            problem=problem,
        )

        job.additional_properties = d
        return job

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
