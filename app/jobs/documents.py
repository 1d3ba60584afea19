"""Jobs in the form in which they are served."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated

from epsilond.accountants.json_types import JsonObject
from epsilond.app.http.problems import ProblemDocument
from epsilond.app.jobs.job import SIMULATION, Job, Progress
from epsilond.app.store.record import Record, State
from epsilond.app.workers.work import render
from epsilond.calibrators.answer import Served

PATH = "/v1/jobs"


@dataclass(frozen=True, kw_only=True)
class JobLinks:
    """Links to the parts of a job."""

    self: str
    events: str
    result: Annotated[
        str | None, Served("URL of the answer, which is the same as without a job; absent until the job is done")
    ] = None
    figure: Annotated[
        str | None, Served("URL of a drawing of the result of a simulation; absent until the job is done")
    ] = None


def _links(record: Record) -> JobLinks:
    """Return the links of a job: to its result once it is done, and to its figure if it is a simulation.

    Args:
        record: the stored job.

    Returns:
        The paths at this service. Those that do not exist yet are None.
    """
    here = f"{PATH}/{record.id}"
    links = JobLinks(self=here, events=f"{here}/events")
    if record.state != "done":
        return links
    figure = f"{here}/figure" if record.kind == SIMULATION else None
    return replace(links, result=f"{here}/result", figure=figure)


@dataclass(frozen=True, kw_only=True)
class JobSummary:
    """A job without its request and its result."""

    id: str
    kind: Annotated[
        str, Served("kind of the request, such as calibration, sweep, account, risk-bounds, plan or simulation")
    ]
    name: Annotated[
        str, Served("subject of the request, such as an algorithm, a kind of spec, a theorem or a kind of simulation")
    ]
    state: Annotated[
        State,
        Served(
            "state of the job. queued: it waits. running: it is computed. interrupted: the service stopped "
            "before the job ended; post the request again"
        ),
    ]
    progress: Annotated[
        Progress | None, Served("progress of the job, in steps and seconds; absent if it is not known")
    ] = None
    created: Annotated[str, Served("time at which the job was created (RFC 3339, UTC)")]
    started: Annotated[str | None, Served("time at which the first step began; absent while the job is queued")] = None
    ended: Annotated[
        str | None, Served("time at which the job was done, failed, cancelled or interrupted; absent before")
    ] = None
    engine_version: Annotated[str, Served("version of the engine, the mathematics that computes the answer")]
    links: JobLinks

    @classmethod
    def of(cls, job: Job) -> JobSummary:
        """Describe a job without its request and its result.

        A job that is done has a link to its result and, if it is a simulation, a link to its figure.

        Args:
            job: the job, with its progress if that is known.

        Returns:
            The description; its times are texts.
        """
        record = job.record
        # A job that waits has not started, and a job that waits or runs has not ended.
        started = None if record.started is None else format_time(record.started)
        ended = None if record.ended is None else format_time(record.ended)
        return cls(
            id=record.id,
            kind=record.kind,
            name=record.name,
            state=record.state,
            progress=job.progress,
            created=format_time(record.created),
            started=started,
            ended=ended,
            engine_version=record.engine_version,
            links=_links(record),
        )


@dataclass(frozen=True, kw_only=True)
class JobDocument(JobSummary):
    """A job with its request, its progress and, once it has ended, its result or its problem."""

    request: Annotated[
        JsonObject,
        Served("body of the request, as it was posted. For a simulation with the default values of absent fields"),
    ]
    result: Annotated[
        object,
        Served(
            "answer to the request; absent until the job is done. docs/simulations.md describes the answer "
            "of a simulation"
        ),
    ] = None
    problem: Annotated[
        ProblemDocument | None,
        Served("problem document with the reason why the job failed or was interrupted; absent otherwise"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class JobList:
    """A page of jobs, newest first."""

    jobs: tuple[JobSummary, ...] = field(default_factory=tuple)
    next: Annotated[
        str | None, Served("position at which the next page, with older jobs, starts; absent on the last page")
    ] = None


def document(job: Job) -> bytes:
    """Render the job with its request and its result or problem as JSON."""
    return render(JobSummary.of(job)).removesuffix(b"}") + _render_large_parts(job.record) + b"}"


def _render_large_parts(record: Record) -> bytes:
    """Render request, result and problem as the end of a JSON object.

    Stored JSON is copied without parsing it, because it may be megabytes. A result in another media type, such as HTML,
    becomes a JSON string.

    Args:
        record: the stored job.

    Returns:
        The members that the job has, in UTF-8, each after a comma. Empty if it has none of them.
    """
    result = record.result
    if result is not None and record.media_type not in (None, "application/json"):
        result = json.dumps(result.decode(), ensure_ascii=False).encode()
    members = {b"request": record.request, b"result": result, b"problem": record.problem}
    return b"".join(b',"' + name + b'":' + text for name, text in members.items() if text)


def format_time(when: float) -> str:
    """Return a time in the form in which it is served: RFC 3339 in UTC, to milliseconds."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
