from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.simulation_status import SimulationStatus, check_simulation_status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_answer import AuditAnswer
    from ..models.preset_answer import PresetAnswer
    from ..models.problem import Problem
    from ..models.progress import Progress
    from ..models.risk_answer import RiskAnswer
    from ..models.simulation_links import SimulationLinks
    from ..models.simulation_request import SimulationRequest


T = TypeVar("T", bound="Simulation")


@_attrs_define
class Simulation:
    """A simulation: its request, how far it is, and its result or problem once it has ended."""

    id: str
    kind: str
    status: SimulationStatus
    created: str
    """ date and time, RFC 3339, UTC """
    engine_version: str
    """ of the mathematics that ran it """
    links: SimulationLinks
    """ Where more of it is. """
    request: SimulationRequest
    """ what was posted, with its defaults """
    progress: Progress | Unset = UNSET
    """ How far a simulation is. """
    started: str | Unset = UNSET
    """ when its first step began """
    ended: str | Unset = UNSET
    """ when it was done, failed, cancelled or interrupted """
    result: AuditAnswer | PresetAnswer | RiskAnswer | Unset = UNSET
    """ once it is done """
    problem: Problem | Unset = UNSET
    """ An RFC 9457 problem, as it stands in the OpenAPI document. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.audit_answer import AuditAnswer
        from ..models.risk_answer import RiskAnswer

        id = self.id

        kind = self.kind

        status: str = self.status

        created = self.created

        engine_version = self.engine_version

        links = self.links.to_dict()

        request = self.request.to_dict()

        progress: dict[str, Any] | Unset = UNSET
        if not isinstance(self.progress, Unset):
            progress = self.progress.to_dict()

        started = self.started

        ended = self.ended

        result: dict[str, Any] | Unset
        if isinstance(self.result, Unset):
            result = UNSET
        elif isinstance(self.result, RiskAnswer) or isinstance(self.result, AuditAnswer):
            result = self.result.to_dict()
        else:
            result = self.result.to_dict()

        problem: dict[str, Any] | Unset = UNSET
        if not isinstance(self.problem, Unset):
            problem = self.problem.to_dict()

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
                "request": request,
            }
        )
        if progress is not UNSET:
            field_dict["progress"] = progress
        if started is not UNSET:
            field_dict["started"] = started
        if ended is not UNSET:
            field_dict["ended"] = ended
        if result is not UNSET:
            field_dict["result"] = result
        if problem is not UNSET:
            field_dict["problem"] = problem

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_answer import AuditAnswer
        from ..models.preset_answer import PresetAnswer
        from ..models.problem import Problem
        from ..models.progress import Progress
        from ..models.risk_answer import RiskAnswer
        from ..models.simulation_links import SimulationLinks
        from ..models.simulation_request import SimulationRequest

        d = dict(src_dict)
        id = d.pop("id")

        kind = d.pop("kind")

        status = check_simulation_status(d.pop("status"))

        created = d.pop("created")

        engine_version = d.pop("engine_version")

        links = SimulationLinks.from_dict(d.pop("links"))

        request = SimulationRequest.from_dict(d.pop("request"))

        _progress = d.pop("progress", UNSET)
        progress: Progress | Unset
        if isinstance(_progress, Unset):
            progress = UNSET
        else:
            progress = Progress.from_dict(_progress)

        started = d.pop("started", UNSET)

        ended = d.pop("ended", UNSET)

        def _parse_result(data: object) -> AuditAnswer | PresetAnswer | RiskAnswer | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                result_type_0 = RiskAnswer.from_dict(data)

                return result_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                result_type_1 = AuditAnswer.from_dict(data)

                return result_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            result_type_2 = PresetAnswer.from_dict(data)

            return result_type_2

        result = _parse_result(d.pop("result", UNSET))

        _problem = d.pop("problem", UNSET)
        problem: Problem | Unset
        if isinstance(_problem, Unset):
            problem = UNSET
        else:
            problem = Problem.from_dict(_problem)

        simulation = cls(
            id=id,
            kind=kind,
            status=status,
            created=created,
            engine_version=engine_version,
            links=links,
            request=request,
            progress=progress,
            started=started,
            ended=ended,
            result=result,
            problem=problem,
        )

        simulation.additional_properties = d
        return simulation

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
