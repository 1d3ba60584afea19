"""A job in the form that clients see: its record and its progress."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Annotated, Any

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.callers.caller import Caller
from epsilond.app.store.record import UNFINISHED, Record
from epsilond.calibrators.answer import Served

SIMULATION = "simulation"
"""The kind of a job that `POST /v1/simulations` creates; a job of any other kind answers a question."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a job, in steps and seconds."""

    done: Annotated[int, Served("number of finished steps")]
    of: Annotated[
        int,
        Served(
            "number of steps of the job: values of a sweep, algorithms of a plan, blocks of a simulation, "
            "or 1 for others"
        ),
    ]
    seconds_spent: Annotated[float | None, Served("seconds since the first step began; absent while the job waits")] = (
        None
    )
    seconds_left: Annotated[
        float | None, Served("estimated number of seconds until the job is done, without time for waiting")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as its client sees it: a computation that goes on after the request was answered, in its present state.

    If the job runs in this service, the progress is that of the running computation. Otherwise it is the last report in
    the store.

    Attributes:
        record: the job in the store.
        progress: finished steps and seconds; None for an ended job without known progress.
    """

    record: Record
    progress: Progress | None = None

    @property
    def ended(self) -> bool:
        """True if the job will not change any more."""
        return self.record.state not in UNFINISHED

    @classmethod
    def of(cls, record: Record) -> Job:
        """Convert a stored job that does not run in this process to the form that its client sees.

        Its progress is the last report in the store. An ended job without such a report has no progress.

        Args:
            record: the stored job.

        Returns:
            The job, with None as its progress if it ended without a report.
        """
        if record.ended is not None and record.steps_done is None:
            return cls(record=record)
        progress = Progress(
            done=record.steps_done or 0,
            of=record.steps,
            seconds_spent=_seconds_spent(record),
            seconds_left=_seconds_left(record),
        )
        return cls(record=record, progress=progress)


def _seconds_spent(record: Record) -> float | None:
    """Return the seconds from the start of a job to its end, or to now; None if it has not started."""
    if record.started is None:
        return None
    until = record.ended if record.ended is not None else time.time()
    return round(max(0.0, until - record.started), 3)


def _seconds_left(record: Record) -> float | None:
    """Return the seconds of remaining work by the estimates in the store; 0 if the job is done, None without one."""
    if record.state == "done":
        return 0.0
    if record.seconds_left is None and record.state == "queued":
        return record.seconds
    return record.seconds_left


def new_record(kind: str, name: str, request: bytes, caller: Caller, **more: Any) -> Record:
    """Make a new job for the store, with a random id that begins with "sim_" or "job_".

    A job is a computation that goes on after its request was answered. Its id cannot be guessed.

    Args:
        kind: kind of the question.
        name: name of the question among the questions of its kind.
        request: body of the HTTP request.
        caller: owner of the job.
        **more: further fields of the record.

    Returns:
        The record, which is not stored yet. The present time is its time of creation.
    """
    prefix = "sim" if kind == SIMULATION else "job"
    return Record(
        id=f"{prefix}_{secrets.token_urlsafe(16)}",
        kind=kind,
        name=name,
        created=time.time(),
        engine_version=ENGINE_VERSION,
        owner=caller.name,
        caller=caller.identity,
        request=request,
        **more,
    )
