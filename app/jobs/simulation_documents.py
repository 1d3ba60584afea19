"""Simulations as they are served: jobs in words of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any

from epsilond.app.http.problems import ProblemDocument
from epsilond.app.jobs.documents import large_parts, told
from epsilond.app.jobs.job import Job
from epsilond.app.store.record import State
from epsilond.app.workers.work import render
from epsilond.calibrators.answer import Served
from epsilond.witness.simulation import Kind

PATH = "/v1/simulations"


@dataclass(frozen=True, kw_only=True)
class BlockProgress:
    """How far a simulation is."""

    blocks_done: int
    blocks: Annotated[int, Served("blocks in all; a repetition is never split, so that one of many rounds takes long")]
    seconds_left: Annotated[
        float | None,
        Served("estimate of its own work, without its wait: of the plan at first, then from the blocks measured"),
    ] = None


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
    status: Annotated[State, Served("queued and running ones will end; interrupted: post it again with its seed")]
    progress: Annotated[BlockProgress | None, Served("absent where nobody knows")] = None
    created: Annotated[str, Served("date and time, RFC 3339, UTC")]
    started: Annotated[str | None, Served("when its first step began")] = None
    ended: Annotated[str | None, Served("when it was done, failed, cancelled or interrupted")] = None
    engine_version: Annotated[str, Served("of the mathematics that runs it")]
    links: SimulationLinks

    @classmethod
    def of(cls, job: Job) -> SimulationSummary:
        """From the job."""
        record, progress = job.record, job.progress
        here = f"{PATH}/{record.id}"
        return cls(
            id=record.id,
            kind=record.name,
            status=record.state,
            progress=BlockProgress(blocks_done=progress.done, blocks=progress.of, seconds_left=progress.seconds_left)
            if progress is not None
            else None,
            created=told(record.created),
            started=told(record.started) if record.started is not None else None,
            ended=told(record.ended) if record.ended is not None else None,
            engine_version=record.engine_version,
            links=SimulationLinks(
                self=here, events=f"{here}/events", figure=f"{here}/figure" if record.state == "done" else None
            ),
        )


@dataclass(frozen=True, kw_only=True)
class SimulationList:
    """A page of simulations, newest first."""

    simulations: tuple[SimulationSummary, ...] = field(default_factory=tuple)
    next: Annotated[str | None, Served("where older ones are; absent on the last page")] = None


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


def document(job: Job) -> bytes:
    """The simulation with everything."""
    return render(SimulationSummary.of(job))[:-1] + large_parts(job.record) + b"}"
