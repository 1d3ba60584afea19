"""Simulations as they are served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any

from typing_extensions import TypeAliasType

from epsilond.accountants.quantities import Tagged
from epsilond.app.answers.work import render
from epsilond.app.http.problems import ProblemDocument
from epsilond.app.jobs.records import Status
from epsilond.app.jobs.running import Progress, State
from epsilond.calibrators.answer import Served
from epsilond.witness.simulation import Kind

PATH = "/v1/simulations"


@dataclass(frozen=True, kw_only=True)
class SimulationLinks:
    """Where more of it is."""

    self: str
    events: str
    figure: Annotated[str | None, Served("of its result, once it is done")] = None


@dataclass(frozen=True, kw_only=True)
class SimulationSummary:
    """A simulation without its request and its result."""

    id: str
    kind: str
    status: Annotated[
        Status,
        Served("queued and running ones will end; interrupted: the service stopped, post it again with its seed"),
    ]
    progress: Annotated[Progress | None, Served("absent where the service stopped and nobody knows")] = None
    created: Annotated[str, Served("date and time, RFC 3339, UTC")]
    started: Annotated[str | None, Served("when its first step began")] = None
    ended: Annotated[str | None, Served("when it was done, failed, cancelled or interrupted")] = None
    engine_version: Annotated[str, Served("of the mathematics that ran it")]
    links: SimulationLinks

    @classmethod
    def of(cls, state: State) -> SimulationSummary:
        """From its state."""
        record = state.record
        here = f"{PATH}/{record.id}"
        figure = f"{here}/figure" if state.status == "done" else None
        return cls(
            id=record.id,
            kind=record.kind,
            status=state.status,
            progress=state.progress,
            created=_told(record.created),
            started=_told(record.started) if record.started is not None else None,
            ended=_told(record.ended) if record.ended is not None else None,
            engine_version=record.engine_version,
            links=SimulationLinks(self=here, events=f"{here}/events", figure=figure),
        )


@dataclass(frozen=True, kw_only=True)
class SimulationList:
    """A page of simulations, newest first."""

    simulations: tuple[SimulationSummary, ...] = field(default_factory=tuple)
    next: Annotated[str | None, Served("where older ones are; absent on the last page")] = None


def request_type(kinds: tuple[Kind, ...]) -> Any:
    """A request of any of these kinds, told apart by `kind`."""
    if len(kinds) == 1:
        return kinds[0].request
    union = reduce(or_, (kind.request for kind in kinds))
    return TypeAliasType("SimulationRequest", Annotated[union, Tagged("kind")])


def document_type(kinds: tuple[Kind, ...]) -> type:
    """A simulation with everything, as it stands in the OpenAPI document."""
    answers = [kind.answer for kind in kinds]
    result: Any = (
        reduce(or_, (each for each in answers if each is not None)) if None not in answers else Mapping[str, Any]
    )
    return make_dataclass(
        "Simulation",
        [
            ("request", Annotated[Mapping[str, Any], Served("what was posted, with its defaults")]),
            ("result", Annotated[result | None, Served("once it is done")], None),
            ("problem", Annotated[ProblemDocument | None, Served("why it failed, or was interrupted")], None),
        ],
        bases=(SimulationSummary,),
        namespace={"__doc__": "A simulation: its request, how far it is, and its result or problem once it has ended."},
        frozen=True,
        kw_only=True,
    )


def document(state: State) -> bytes:
    """The simulation with everything. What is JSON already is put in its place as it stands."""
    record = state.record
    parts = (("request", record.request), ("result", record.result), ("problem", record.problem))
    large = b"".join(b',"%s":%s' % (name.encode(), text) for name, text in parts if text)
    return render(SimulationSummary.of(state))[:-1] + large + b"}"


def _told(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
