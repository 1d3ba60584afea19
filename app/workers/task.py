"""A task: one computation that waits for a worker, runs in one, or has ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.workers.work import Answered, Computation, Outcome

Lane = Literal["read", "question", "job"]
LANES: tuple[Lane, ...] = ("read", "question", "job")
State = Literal["queued", "running", "ended"]
Cause = Literal["crashed", "deadline", "abandoned", "cancelled"]
"""Why a worker died."""


@dataclass(frozen=True)
class TurnedAway:
    """What comes of a task that had to leave the queue for another caller's."""

    problem: Problem

    def get(self) -> Answered:
        """Raises the problem."""
        raise self.problem


@dataclass(eq=False, kw_only=True)
class Task:
    """One computation of one caller. `outcome` stays None if it was dropped or killed because nobody wants it."""

    work: Computation | bytes
    """The computation, or the bytes it pickles to."""
    caller: str
    lane: Lane
    small: bool = False
    """Whether the computation pickles in no time."""
    state: State = "queued"
    outcome: Outcome | TurnedAway | None = None
    queued_seconds: float = 0.0
    """How long it waited for a worker."""
    cpu_seconds: float = 0.0
    """What the worker spent on it; of a killed one the time that it ran."""
    done: anyio.Event = field(default_factory=anyio.Event)
    abandoned: bool = False
    """Whether nobody waits for it."""
    background: bool = False
    """Whether it runs past its deadline, on nobody's place."""
    late_since: float | None = None
    """When it began to wait for room in the background, by the monotonic clock; None if it does not."""
    deaths: int = 0
    """How many workers have died of it."""
    starts: int = 0
    """How many workers have died that it was given to."""
    since: float = field(default_factory=time.monotonic)
    """When it came into its present state, by the monotonic clock."""

    def become(self, state: State) -> float:
        """Change state; answers the seconds spent in the one before."""
        now = time.monotonic()
        spent, self.since, self.state = now - self.since, now, state
        return spent

    def end(self, outcome: Outcome | TurnedAway | None) -> None:
        """It has ended, and whoever waits for it is told."""
        self.become("ended")
        self.outcome = outcome
        self.work = b""
        self.done.set()
