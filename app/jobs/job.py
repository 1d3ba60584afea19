"""A job in the form that clients see: its record and its progress."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from epsilond.app.store.record import UNFINISHED, Record
from epsilond.calibrators.answer import Served

SIMULATION = "simulation"
"""The kind of a job that `POST /v1/simulations` creates; a job of any other kind answers a question."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a job is."""

    done: Annotated[int, Served("steps that are done")]
    of: Annotated[
        int, Served("steps in all: values of a sweep, algorithms of a plan, blocks of a simulation, 1 of anything else")
    ]
    seconds_spent: Annotated[float | None, Served("since its first step began; absent while it waits")] = None
    seconds_left: Annotated[float | None, Served("estimate, where there is one, of its own work without its wait")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job at present."""

    record: Record
    progress: Progress | None = None

    @property
    def ended(self) -> bool:
        """True if the job will not change any more."""
        return self.record.state not in UNFINISHED

    @classmethod
    def of(cls, record: Record) -> Job:
        """Return the job of a stored record, for a job that does not run in this service.

        Its progress is the last report in the store. An ended job without such a report has no progress.
        """
        if record.ended is not None and record.steps_done is None:
            return cls(record=record)
        until = record.ended if record.ended is not None else time.time()
        spent = round(max(0.0, until - record.started), 3) if record.started is not None else None
        left = 0.0 if record.state == "done" else record.seconds_left
        left = record.seconds if left is None and record.state == "queued" else left
        done = record.steps_done or 0
        return cls(
            record=record,
            progress=Progress(done=done, of=record.steps, seconds_spent=spent, seconds_left=left),
        )
