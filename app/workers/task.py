"""Tasks, and whose turn it is: a line for each caller, and how much processor time each has used lately.

A task is one computation that waits for a worker, runs in one, or has ended.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.workers.work import Computation, Outcome, RenderedAnswer

Lane = Literal["read", "question", "job"]
LANES: tuple[Lane, ...] = ("read", "question", "job")
State = Literal["queued", "running", "ended"]
Cause = Literal["crashed", "deadline", "abandoned", "cancelled"]
"""Why a worker died."""


@dataclass(frozen=True)
class TurnedAway:
    """What comes of a task that had to leave the queue for another caller's."""

    problem: Problem

    def get(self) -> RenderedAnswer:
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


class FairQueue:
    """Tasks that wait. No caller's tasks keep another caller's from their turn, however many they are."""

    def __init__(self, room: int, room_each: int) -> None:
        self._room = room
        self._room_each = room_each
        self._lines: dict[str, deque[Task]] = {}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def full_for(self, caller: str) -> bool:
        """Whether a task of theirs would have to displace another, or has no room at all."""
        return self._length >= self._room or len(self._lines.get(caller, ())) >= self._room_each

    def displaced_by(self, caller: str) -> Task | None:
        """The task that leaves the full queue for one of a caller who has nothing waiting; None if none has to.

        It is the newest of whoever has most waiting, as long as that is more than one.
        """
        if caller in self._lines or not self._lines:
            return None
        longest = max(self._lines.values(), key=len)
        if len(longest) < 2:
            return None
        self.drop(newest := longest[-1])
        return newest

    def put(self, task: Task) -> None:
        """To the end of its caller's line, whether there is room or not."""
        self._lines.setdefault(task.caller, deque()).append(task)
        self._length += 1

    def put_back(self, task: Task) -> None:
        """To the front of its caller's line: it has waited before."""
        self._lines.setdefault(task.caller, deque()).appendleft(task)
        self._length += 1

    def drop(self, task: Task) -> None:
        """Take a task out that is in it."""
        line = self._lines[task.caller]
        line.remove(task)
        self._length -= 1
        if not line:
            del self._lines[task.caller]

    def next(self, running: Callable[[str], int], used: Callable[[str], float], most: int) -> Task | None:
        """Take out the task whose turn it is: of the caller with fewest running, then with least used lately.

        Among equals it is the caller who came to wait first. None if all who wait have `most` running, or nobody waits.
        """
        if not self._lines:
            return None
        caller = min(self._lines, key=lambda each: (running(each), used(each)))
        if running(caller) >= most:
            return None
        task = self._lines[caller][0]
        self.drop(task)
        return task

    def all(self) -> list[Task]:
        """Every task that waits."""
        return [task for line in self._lines.values() for task in line]


HALF_LIFE = 60.0
"""Seconds after which what was used counts half."""
FORGOTTEN = 0.001
"""Seconds of use that are as good as none."""
CALLERS = 10_000
"""More callers than that are not told apart without looking for those to forget."""

LONGEST_RETRY = 600
"""Most seconds that a rejected caller is asked to wait."""
NEWEST = 0.1
"""Weight of the newest duration in their mean."""


class MeanSeconds:
    """Mean duration of a lane's tasks, in seconds, in which the newest weigh most."""

    def __init__(self) -> None:
        self._mean = 1.0

    def add(self, seconds: float) -> None:
        """Count the duration of one more task."""
        self._mean += NEWEST * (seconds - self._mean)

    def retry_after(self, tasks: int, places: int) -> int:
        """Return the whole seconds after which so many tasks will have been computed on so many places."""
        return min(max(math.ceil(self._mean * tasks / places), 1), LONGEST_RETRY)


class Usage:
    """Seconds used by each caller, halved every minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}

    def add(self, caller: str, seconds: float) -> None:
        """So many seconds more."""
        self._used[caller] = (self.lately(caller) + seconds, self._clock())
        if len(self._used) > CALLERS:
            self._used = {each: used for each, used in self._used.items() if self.lately(each) > FORGOTTEN}

    def lately(self, caller: str) -> float:
        """What they have used, in seconds; what is long ago counts little."""
        used, when = self._used.get(caller, (0.0, 0.0))
        return float(used * 0.5 ** ((self._clock() - when) / HALF_LIFE))
