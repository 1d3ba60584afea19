"""A simulation that waits or runs in this service: how far it is, and who is told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated, Any

import anyio

from epsilond.app.jobs.records import UNFINISHED, Ended, Record, Status
from epsilond.calibrators.answer import Served
from epsilond.witness.simulation import Kind, Plan


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a simulation is."""

    blocks_done: int
    blocks: Annotated[int, Served("blocks in all; a repetition is never split, so that one of many rounds takes long")]
    seconds_left: Annotated[
        float | None,
        Served("estimate of its own work, without its wait: of the plan at first, then from the blocks measured"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class State:
    """A simulation as a client is to see it now."""

    record: Record
    status: Status
    progress: Progress | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.status not in UNFINISHED

    @classmethod
    def of(cls, record: Record) -> State:
        """Of one that is not live."""
        if record.blocks_done is None:
            return cls(record=record, status=record.status)
        left = 0.0 if record.status == "done" else None
        progress = Progress(blocks_done=record.blocks_done, blocks=record.blocks, seconds_left=left)
        return cls(record=record, status=record.status, progress=progress)


@dataclass(eq=False, kw_only=True)
class RunningSimulation:
    """The simulation, its request, and what is known of its work."""

    record: Record
    kind: Kind
    request: Any
    plan: Plan
    concurrency: int
    """How many of its blocks run side by side."""
    status: Status = "queued"
    blocks_done: int = 0
    seconds_measured: float = 0.0
    begun: dict[int, float] = field(default_factory=dict)
    """When each block that runs now began, on the monotonic clock."""
    bytes_held: int = 0
    stopped_as: Ended = "interrupted"
    """What it is called if it is stopped."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next change, and replaced."""

    @property
    def seconds_left(self) -> float:
        """Of its own work, once it runs. A block that takes longer than the others did is taken to end at once."""
        measured, now = self.blocks_done, time.monotonic()
        each = self.seconds_measured / measured if measured else self.plan.seconds / max(1, self.plan.blocks)
        spent = sum(min(each, now - began) for began in self.begun.values())
        return max(0.0, each * (self.plan.blocks - measured) - spent) / self.concurrency

    @property
    def state(self) -> State:
        """As it is now."""
        progress = Progress(
            blocks_done=self.blocks_done, blocks=self.plan.blocks, seconds_left=round(self.seconds_left, 3)
        )
        return State(record=self.record, status=self.status, progress=progress)

    def tell(self) -> None:
        """Wake everybody who watches. They look at the state: a slow watcher misses steps, and nothing piles up."""
        self.changed.set()
        self.changed = anyio.Event()

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

    def stop(self, status: Ended) -> None:
        """Have it stopped; its workers are killed. The first reason stands."""
        self.stopped_as = self.stopped_as if self.scope.cancel_called else status
        self.scope.cancel()
