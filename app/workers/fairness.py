"""Whose turn it is: queues of tasks by caller, processor time by caller, and how long a turn lasts."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from cachetools import TTLCache

from epsilond.app.workers.process import Lane, Task

TURN_SECONDS: Final = 1.0
"""Time after which a question leaves its place to others that wait, and goes on at the priority of jobs."""
SHORT_TURN_SECONDS: Final = 0.03
"""Turn of a caller who lingers while another caller waits: some five times what a new account takes."""
LINGER_SECONDS: Final = 60.0
"""Seconds for which a caller lingers after an expensive question, or one that had to leave its place."""


class FairQueue:
    """A queue of tasks with one line for each caller, so that a caller with many tasks does not delay the others."""

    def __init__(self, room: int, room_each: int) -> None:
        """Create an empty queue.

        Args:
            room: largest number of tasks in the queue.
            room_each: largest number of tasks of one caller in the queue.
        """
        self._room = room
        self._room_each = room_each
        self._lines: dict[str, deque[Task]] = {}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def is_full_for(self, caller: str) -> bool:
        """Return whether the queue holds as many tasks as it may, in total or of this caller."""
        return self._length >= self._room or len(self._lines.get(caller, ())) >= self._room_each

    def make_room_for(self, caller: str) -> Task | None:
        """Remove the newest task of the caller with most tasks, to make room for a caller without tasks.

        Args:
            caller: the caller who needs room.

        Returns:
            The removed task. None, without removing anything, if `caller` already has tasks in the queue, or if no
            other caller has more than one.
        """
        if caller in self._lines or not self._lines:
            return None
        longest = max(self._lines.values(), key=len)
        if len(longest) < 2:
            return None
        newest = longest[-1]
        self.drop(newest)
        return newest

    def put(self, task: Task) -> None:
        """Put a task at the end of its caller's line. Whether there is room is not checked."""
        self._lines.setdefault(task.caller, deque()).append(task)
        self._length += 1

    def put_back(self, task: Task) -> None:
        """Return a task that has left the queue to the front of its caller's line."""
        self._lines.setdefault(task.caller, deque()).appendleft(task)
        self._length += 1

    def drop(self, task: Task) -> None:
        """Remove a task, which must be in the queue."""
        line = self._lines[task.caller]
        line.remove(task)
        self._length -= 1
        if not line:
            del self._lines[task.caller]

    def next(
        self,
        count_running: Callable[[str], int],
        recent_seconds: Callable[[str], float],
        most_running: Callable[[str], int],
    ) -> Task | None:
        """Remove the next task from the queue, so that all callers have a fair share.

        It is the first task of the caller with fewest running tasks. Among such callers, the one with the least recent
        processor time is preferred, then the one who has waited longest.

        Args:
            count_running: returns the number of running tasks of a caller.
            recent_seconds: returns the recent CPU seconds of a caller.
            most_running: returns the largest number of tasks of a caller that may run at one time.

        Returns:
            The task. None if the queue is empty, or if each caller in it has as many running tasks as it may.
        """
        callers = [caller for caller in self._lines if count_running(caller) < most_running(caller)]
        if not callers:
            return None
        # The dictionary lists the caller who has waited longest first, and `min` returns the first of equal ones.
        caller = min(callers, key=lambda name: (count_running(name), recent_seconds(name)))
        task = self._lines[caller][0]
        self.drop(task)
        return task

    def all(self) -> list[Task]:
        """Return every task that waits."""
        return [task for line in self._lines.values() for task in line]


HALF_LIFE = 60.0
"""Seconds after which used time counts half."""
FORGOTTEN = 0.001
"""Seconds of use below which a caller is forgotten: a thousandth of a long turn."""
CALLERS = 10_000
"""Number of callers beyond which those that have used little are forgotten, to bound the memory."""

LONGEST_RETRY = 600
"""Most seconds that a rejected caller is asked to wait."""
NEWEST = 0.1
"""Weight of the newest duration in their mean."""


class MeanSeconds:
    """Running mean of the durations of tasks in seconds, in which newer tasks count more; 1 s before the first task.

    From it follows the time after which a rejected client should try again.
    """

    def __init__(self) -> None:
        self._mean = 1.0

    def add(self, seconds: float) -> None:
        """Count the duration of one more task."""
        self._mean += NEWEST * (seconds - self._mean)

    def retry_after(self, tasks: int, places: int) -> int:
        """Return the estimated time in whole seconds until tasks are computed, between 1 and `LONGEST_RETRY`.

        Args:
            tasks: number of tasks that run or wait.
            places: number of tasks that run at one time.

        Returns:
            The seconds, as a value of the header Retry-After.
        """
        return min(max(math.ceil(self._mean * tasks / places), 1), LONGEST_RETRY)


class Usage:
    """CPU seconds that each caller has used recently. Used time counts half after each `HALF_LIFE`.

    If there are many callers, those with almost no recent use are forgotten.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create a record without any use.

        Args:
            clock: returns the time in seconds.
        """
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}

    def add(self, caller: str, seconds: float) -> None:
        """Count more seconds of a caller."""
        self._used[caller] = (self.recent_seconds(caller) + seconds, self._clock())
        if len(self._used) > CALLERS:
            self._used = {name: used for name, used in self._used.items() if self.recent_seconds(name) > FORGOTTEN}

    def recent_seconds(self, caller: str) -> float:
        """Return the seconds that a caller has used, each weighted by ½ to the power of its age in half-lives."""
        used, updated = self._used.get(caller, (0.0, 0.0))
        return float(used * 0.5 ** ((self._clock() - updated) / HALF_LIFE))


class Turns:
    """Limits of each caller's use of the worker processes: the time of a question on one, and their number.

    A question is a request that is computed. After one that is estimated to be expensive, or that had to leave its
    worker, the limits of its caller are strict for `LINGER_SECONDS`: short turns, and one worker fewer than there are.
    So a question of another caller soon gets a worker.
    """

    def __init__(self) -> None:
        self._lingering: TTLCache[str, bool] = TTLCache(CALLERS, LINGER_SECONDS)

    def linger(self, caller: str) -> None:
        """Set strict limits for a caller, because a question of this caller is expensive or had to leave its worker."""
        self._lingering[caller] = True

    def seconds(self, caller: str, *, others_wait: bool) -> float:
        """Return how long a computation keeps its worker process while other tasks wait.

        Args:
            caller: identity of the question's caller.
            others_wait: whether tasks of other callers wait, not only tasks of this one.

        Returns:
            The duration of the turn in seconds. Only a caller with strict limits gets the short turn.
        """
        has_strict_limits = caller in self._lingering
        return SHORT_TURN_SECONDS if others_wait and has_strict_limits else TURN_SECONDS

    def most_places(self, lane: Lane, caller: str, places: int) -> int:
        """Return how many worker processes a caller may use at one time for one kind of work.

        For reading request bodies, and for questions of a caller with strict limits, one place (worker process) remains
        free for other callers, if there is more than one. Otherwise the caller may use all places.

        Args:
            lane: kind of work: reading requests, answering questions, or jobs.
            caller: identity of the caller.
            places: number of places for this kind of work.

        Returns:
            The number of worker processes.
        """
        has_strict_limits = lane == "question" and caller in self._lingering
        leaves_one_free = lane == "read" or has_strict_limits
        return max(1, places - 1) if leaves_one_free else places
