"""A computation under way: one for all of an owner's requests that ask the same at the same time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.questions.question import Question
from epsilond.app.workers.task import Lane, Task
from epsilond.app.workers.work import Outcome


@dataclass(eq=False, kw_only=True)
class Shared:
    """The computation, who waits for it, and how far it is."""

    question: Question
    owner: str
    caller: str
    """Whose queue it stands in: that of whoever asked first."""
    lane: Lane = "question"
    waiting: int = 0
    task: Task | None = None
    """The part of it that is with the pool: all of it, or what puts the parts together."""
    parts: list[Shared] = field(default_factory=list)
    """Those that have been begun."""
    parts_done: int = 0
    began: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    """None while it runs, and if it was stopped."""
    problem: Problem | None = None
    """Why it was not even tried."""
    done: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)
    """Set at the next step, and replaced."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cpu_seconds: float = 0.0
    """Spent by workers on it, its parts included."""
    queued_seconds: float = 0.0
    """How long it waited for workers."""

    @property
    def key(self) -> tuple[str, str]:
        """By which those who ask the same find it."""
        return self.owner, self.question.digest

    @property
    def steps(self) -> int:
        """How many steps it has: its parts, or itself."""
        return max(1, len(self.question.parts))

    def step(self) -> None:
        """One part more is done; whoever watches is told."""
        self.parts_done += 1
        self.changed.set()
        self.changed = anyio.Event()

    def end(self) -> None:
        """It has ended; whoever waits or watches is told."""
        self.done.set()
        self.changed.set()
