"""A job that runs in this service: how far it is, and who is told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio

from epsilond.app.jobs.job import Job, Progress
from epsilond.app.questions.compute import Shared
from epsilond.app.questions.simulations import SimulationAsked
from epsilond.app.store.record import AttemptProgress as Told
from epsilond.app.store.record import Record

Ending = Literal["cancelled", "interrupted", "released"]
"""What becomes of a job that is stopped: `released` goes back to the queue, for the next start or another replica."""


@dataclass(eq=False, kw_only=True)
class Running:
    """The job, and what is known of its work."""

    record: Record
    on_place: bool = True
    """Whether it was claimed for one of the places of jobs; an adopted question runs in the background."""
    began: float = field(default_factory=time.monotonic)
    ending: Ending | None = None
    """Why it is stopped, if it is. The first reason stands."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next change, and replaced."""

    @property
    def steps_done(self) -> int:
        """How many steps are done."""
        return 0

    @property
    def seconds_left(self) -> float | None:
        """Of its own work; None where nobody knows."""
        return None

    @property
    def job(self) -> Job:
        """As it is now."""
        spent = round(time.monotonic() - self.began, 3)
        left = None if self.seconds_left is None else round(self.seconds_left, 3)
        progress = Progress(done=self.steps_done, of=self.record.steps, seconds_spent=spent, seconds_left=left)
        return Job(record=self.record, progress=progress)

    @property
    def told(self) -> Told:
        """What the store is told of it, for who asks another replica."""
        left = self.seconds_left
        return Told(attempt=self.record.attempt, done=self.steps_done, of=self.record.steps, seconds_left=left)

    def as_of(self, record: Record) -> Job:
        """As it is now, with what has just been read from the store."""
        return replace(self.job, record=record)

    def tell(self) -> None:
        """Wake everybody who watches. They look at the job: a slow watcher misses steps, and nothing piles up."""
        self.changed.set()
        self.changed = anyio.Event()

    def stop(self, ending: Ending) -> None:
        """Have it stopped."""
        self.ending = self.ending or ending
        self.scope.cancel()


@dataclass(eq=False, kw_only=True)
class RunningQuestion(Running):
    """A question that took too long for its request, or was left over by another replica."""

    shared: Shared | None = None
    """Its computation, once it has been read."""

    @property
    def steps_done(self) -> int:
        """Its parts that are done."""
        return min(self.shared.parts_done, self.record.steps) if self.shared is not None else 0


@dataclass(eq=False, kw_only=True)
class RunningSimulation(Running):
    """A simulation: blocks that are measured as they come."""

    asked: SimulationAsked | None = None
    """What it is, once it has been read."""
    concurrency: int = 1
    """How many of its blocks run side by side."""
    blocks_done: int = 0
    seconds_measured: float = 0.0
    begun: dict[int, float] = field(default_factory=dict)
    """When each block that runs now began, on the monotonic clock."""
    bytes_held: int = 0

    @property
    def steps_done(self) -> int:
        """Its blocks that are done."""
        return self.blocks_done

    @property
    def blocks(self) -> int:
        """How many blocks it has."""
        return self.asked.plan.blocks if self.asked is not None else self.record.steps

    @property
    def seconds_left(self) -> float | None:
        """Of its own work, once it runs. A block that takes longer than the others did is taken to end at once."""
        if self.asked is None:
            return self.record.seconds
        measured, now, plan = self.blocks_done, time.monotonic(), self.asked.plan
        each = self.seconds_measured / measured if measured else plan.seconds / max(1, plan.blocks)
        spent = sum(min(each, now - began) for began in self.begun.values())
        return max(0.0, each * (plan.blocks - measured) - spent) / self.concurrency

    def begins(self, index: int) -> None:
        """A block begins."""
        self.begun[index] = time.monotonic()

    def measured(self, index: int, block: bytes) -> float:
        """That block is done; answers its seconds."""
        seconds = time.monotonic() - self.begun.pop(index)
        self.blocks_done += 1
        self.bytes_held += len(block)
        self.seconds_measured += seconds
        self.tell()
        return seconds
